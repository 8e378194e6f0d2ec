/**
 * The conditions that this machine must meet before the worker serves. Each check returns the reason why a
 * backend cannot be trusted here, in one sentence, or `undefined`.
 */
import { closeSync, constants, fstatSync, openSync, statSync } from "node:fs";
import { O_PATH, type OpenAt, openBeneath } from "./openat.ts";
import { isProcfs } from "./pseudo.ts";

/**
 * Returns why descriptors cannot be named through procfs here: it is missing, masked, or shows another
 * process.
 */
export function reasonAgainstProcfs(proc = "/proc"): string | undefined {
  if (process.platform !== "linux") return "Only Linux names descriptors through procfs.";
  try {
    if (!isProcfs(proc)) return `${proc} is not procfs.`;
    return showsOurDescriptors(proc) ? undefined : `${proc} does not show the descriptors of this process.`;
  } catch {
    return `${proc} cannot be used.`;
  }
}

function showsOurDescriptors(proc: string): boolean {
  const descriptor = openSync("/", O_PATH | constants.O_DIRECTORY);
  try {
    const ours = fstatSync(descriptor, { bigint: true });
    const shown = statSync(`${proc}/self/fd/${descriptor}`, { bigint: true });
    return ours.dev === shown.dev && ours.ino === shown.ino;
  } finally {
    closeSync(descriptor);
  }
}

/**
 * Returns why a way of opening names cannot be trusted: it follows a link, or does not report it as one.
 * /proc/self/root is a link that every Linux has, and it leads to a place that the jail must never reach.
 */
export function reasonAgainstOpening(open: OpenAt): string | undefined {
  const folder = openSync("/proc/self", O_PATH | constants.O_DIRECTORY);
  try {
    if (opens(() => open(folder, "root", O_PATH | constants.O_DIRECTORY)))
      return "The system follows links that it was told not to follow.";
    const link = open(folder, "root", O_PATH);
    const isLink = fstatSync(link).isSymbolicLink();
    closeSync(link);
    return isLink ? undefined : "The system does not tell a link from what it leads to.";
  } finally {
    closeSync(folder);
  }
}

/**
 * Returns whether the system resolves several names in one step, and refuses that for a link, for another
 * file system and for a path that leaves the folder. A system that ignored these conditions would be worse
 * than one without the call.
 */
export function supportsOpenat2(open = openBeneath): boolean {
  const take = (folder: string, path: string, what: "any" | "list"): boolean => {
    const descriptor = openSync(folder, O_PATH | constants.O_DIRECTORY);
    const taken = open(descriptor, path, what);
    for (const each of [descriptor, taken]) if (each !== undefined) closeSync(each);
    return taken !== undefined;
  };
  const takes = (folder: string, path: string) => take(folder, path, "any") || take(folder, path, "list");
  const refused = [
    ["/proc", "self"],
    ["/proc/self", "root"],
    ["/proc/self", "root/proc"],
    ["/proc/self", ".."],
    ["/", "proc"],
  ] as const;
  return takes("/proc/self", "fd") && !refused.some(([folder, path]) => takes(folder, path));
}

function opens(open: () => number): boolean {
  try {
    closeSync(open());
    return true;
  } catch {
    return false;
  }
}
