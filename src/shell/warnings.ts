import type { Log } from "../base/log/log.ts";
import type { ShellConfig } from "./config.ts";
import { launchersIn } from "./programs/launchers.ts";
import { defaultAllowlist, isPublishedList } from "./programs/policy.ts";
import { findProgram, programFolders } from "./programs/program.ts";

interface Circumstances {
  /** The folder that `shell::fs::*` is confined to, if any. */
  readonly root: string | undefined;
  /** Whether other programs call the worker, and not the user who has started it. */
  readonly isServed: boolean;
  /** Whether rules of the kernel confine commands. */
  readonly isConfined: boolean;
  /** Whether the configuration leaves them unconfined. */
  readonly isOff: boolean;
  readonly log: Log;
}

/** Logs what an operator should know about the configuration before the first call. */
export function warnAboutConfig(
  config: ShellConfig,
  { root, isServed, isConfined, isOff, log }: Circumstances,
): void {
  if (isServed && !isConfined) {
    const [cause, advice] = isOff
      ? ["os_sandbox is off", "set os_sandbox: best, or required"]
      : ["this system has none of the rules of os_sandbox", "take a newer kernel"];
    log.warn("commands are not confined", {
      reason: `${cause}, so each command reads and writes whatever this user can, denied files too; ${advice}`,
    });
  }
  if (config.allowlist.length === 0) {
    log.warn("every program may run", {
      reason: isConfined
        ? "allowlist is empty; only os_sandbox bounds what a call of shell::exec can do"
        : "allowlist is empty; whoever can call shell::exec can do whatever this user can",
    });
  }
  const launching = isPublishedList(config.allowlist) ? [] : launchersIn(config.allowlist);
  if (launching.length > 0) {
    log.warn("programs of allowlist run others", {
      programs: launching.join(" "),
      reason:
        "an argument makes them run any program, or write one, as `git -c` and `find -exec` do; the list bounds nothing then, and only os_sandbox bounds what they run",
    });
  }
  const missing = missingIn(config);
  if (missing.length > 0) {
    log.warn("programs of allowlist are not found", {
      programs: missing.join(" "),
      reason:
        "they are in no folder of the operating system, and PATH does not count; add their folders to program_folders, or list them by their full paths",
    });
  }
  if (root === undefined) {
    log.warn("no jail", { reason: "shell::fs reaches every file of the host that this user can" });
  }
  if (root !== undefined && sharedFolders.has(root)) {
    log.warn("shared folder", {
      reason: `fs.host_root is ${root}, where every user and program of the host keeps files, among them configurations of other workers: calls can read and replace what is not theirs; serve a folder of its own`,
    });
  }
  if (config.default_timeout_ms > config.max_timeout_ms) {
    log.warn("default_timeout_ms is cut", { reason: "it is larger than max_timeout_ms, which is used" });
  }
  for (const [key, reason] of Object.entries(zeros)) {
    if (config[key as keyof typeof zeros] === 0) log.warn(`${key} is 0`, { reason });
  }
}

/** Returns the names that were added to the published list and lead to no file. */
const missingIn = ({ allowlist, program_folders: folders }: ShellConfig): string[] =>
  allowlist.filter(
    (name) =>
      !name.includes("/") &&
      !defaultAllowlist.includes(name) &&
      findProgram(name, [...folders, ...programFolders]) === undefined,
  );

/** Limits that make little sense as zero. */
const zeros = {
  max_timeout_ms: "every command is ended at once, and keeps what it has changed until then",
  max_output_bytes: "commands show no output",
} as const;

const sharedFolders: ReadonlySet<string> = new Set([
  "/tmp",
  "/var/tmp",
  "/private/tmp",
  "/private/var/tmp",
  "/dev/shm",
]);
