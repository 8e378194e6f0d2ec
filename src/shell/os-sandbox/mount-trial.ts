/** Finds out whether the system permits mounts for commands. No setting says so on every system. */
import { spawnSync } from "node:child_process";
import { closeSync, readFileSync } from "node:fs";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { shortageIn } from "../../base/shortage.ts";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { buildLauncher, encodeCovers } from "./launcher.ts";
import { currentUser, type MountPlan } from "./mounts.ts";
import { makeProcMount } from "./proc-mount.ts";
import type { Architecture } from "./syscalls.ts";

/** Runs a launcher that mounts over devices that exist on every system, and exits. */
export function tryMounts(kernel: Kernel, architecture: Architecture): boolean {
  const trials = [
    { path: "/dev", kind: "pinned" },
    { path: "/dev/zero", kind: "file", mask: "/dev/null" },
    { path: "/dev", kind: "folder" },
  ] as const;
  const covers = runAtOnce(encodeCovers(trials, architecture));
  return canLaunch(kernel, architecture, { covers, hidesProcesses: false, user: currentUser() });
}

/**
 * Returns a descriptor of a mount of /proc for commands, if a launcher can attach it: only as root, or from
 * Linux 6.15 on. Returns `undefined` also if something is mounted below /proc, as containers do to hide files
 * of the kernel, since those mounts would be lost.
 */
export function openProcesses(kernel: Kernel, architecture: Architecture): number | undefined {
  const user = currentUser();
  if (user.uid !== 0 || hasMountsBelowProc(readFileSync("/proc/self/mountinfo", "utf8"))) return undefined;
  const mount = makeProcMount();
  if (mount === undefined) return undefined;
  if (canLaunch(kernel, architecture, { covers: undefined, hidesProcesses: true, user }, mount)) return mount;
  closeSync(mount);
  return undefined;
}

/**
 * Returns whether anything is mounted below /proc, according to `/proc/self/mountinfo`, except the mounts of
 * every system.
 */
export const hasMountsBelowProc = (mounts: string): boolean =>
  mounts
    .split("\n")
    .map((line) => line.split(" ")[4] ?? "")
    .some((point) => point.startsWith("/proc/") && point !== "/proc/sys/fs/binfmt_misc");

function canLaunch(
  kernel: Kernel,
  architecture: Architecture,
  mounts: MountPlan,
  ...inherited: readonly number[]
): boolean {
  const trial = { architecture, file: undefined, limits: [], hasRuleset: false, filter: undefined, mounts };
  const image = runAtOnce(makeImage(kernel, buildLauncher(trial)));
  try {
    // The launcher expects some descriptors as 3 and 4.
    const stdio = ["ignore", "ignore", "ignore", image, image, ...inherited] as const;
    const { status, error } = spawnSync(`/proc/self/fd/${image}`, { cwd: "/", env: {}, stdio: [...stdio] });
    if (shortageIn(error) !== undefined) throw error;
    return status === 0;
  } finally {
    closeSync(image);
  }
}
