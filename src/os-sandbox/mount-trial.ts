/** Finds out whether the system lets commands have mounts of their own: no setting says so for every system. */
import { spawnSync } from "node:child_process";
import { closeSync } from "node:fs";
import { makeImage } from "./image.ts";
import type { Kernel } from "./kernel.ts";
import { buildLauncher } from "./launcher.ts";
import { currentUser } from "./mounts.ts";
import type { Architecture } from "./syscalls.ts";

/** Runs a launcher that mounts over devices that are there everywhere, and ends. */
export function tryMounts(kernel: Kernel, architecture: Architecture): boolean {
  const covers = [
    { path: "/dev", kind: "pinned" },
    { path: "/dev/zero", kind: "file" },
    { path: "/dev", kind: "folder" },
  ] as const;
  const mounts = { covers, user: currentUser() };
  const trial = { architecture, file: undefined, limits: [], hasRuleset: false, filter: undefined, mounts };
  const image = makeImage(kernel, buildLauncher(trial));
  try {
    // It expects descriptors 3 and 4, whatever they are.
    const stdio = ["ignore", "ignore", "ignore", image, image] as const;
    return spawnSync(`/proc/self/fd/${image}`, { cwd: "/", env: {}, stdio: [...stdio] }).status === 0;
  } finally {
    closeSync(image);
  }
}
