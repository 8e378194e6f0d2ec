/**
 * Finds out whether the system lets commands have mounts of their own: no setting says so for every system.
 */
import { spawnSync } from "node:child_process";
import { closeSync, readFileSync } from "node:fs";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { buildLauncher } from "./launcher.ts";
import { currentUser, type MountPlan } from "./mounts.ts";
import { makeProcMount } from "./proc-mount.ts";
import type { Architecture } from "./syscalls.ts";

/** Runs a launcher that mounts over devices that are there everywhere, and ends. */
export function tryMounts(kernel: Kernel, architecture: Architecture): boolean {
  const covers = [
    { path: "/dev", kind: "pinned" },
    { path: "/dev/zero", kind: "file", mask: "/dev/null" },
    { path: "/dev", kind: "folder" },
  ] as const;
  return canLaunch(kernel, architecture, { covers, hidesProcesses: false, user: currentUser() });
}

/**
 * A mount of /proc for commands, as a descriptor, if a launcher can have it: only that of root can, from
 * Linux 6.15 on. Undefined too where something is mounted below /proc, as containers hide files of the
 * kernel: that would be lost.
 */
export function openProcesses(kernel: Kernel, architecture: Architecture): number | undefined {
  const user = currentUser();
  if (user.uid !== 0 || hasMountsBelowProc(readFileSync("/proc/self/mountinfo", "utf8"))) return undefined;
  const mount = makeProcMount();
  if (mount === undefined) return undefined;
  if (canLaunch(kernel, architecture, { covers: [], hidesProcesses: true, user }, mount)) return mount;
  closeSync(mount);
  return undefined;
}

/**
 * Whether something is mounted below /proc, by `/proc/self/mountinfo`, besides what every system has there.
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
  const image = makeImage(kernel, buildLauncher(trial));
  try {
    // It expects descriptors 3 and 4, whatever they are.
    const stdio = ["ignore", "ignore", "ignore", image, image, ...inherited] as const;
    return spawnSync(`/proc/self/fd/${image}`, { cwd: "/", env: {}, stdio: [...stdio] }).status === 0;
  } finally {
    closeSync(image);
  }
}
