/** The abilities of this machine that some tests need, and the reasons if it lacks them. */

import { test } from "bun:test";
import { spawnSync } from "node:child_process";
import { ownMounts } from "./driver-fixture.ts";

export const isRoot = process.getuid!() === 0;

/** The reason why a worker's descriptors and calls cannot be inspected here; `undefined` if they can. */
export const reasonAgainstInspection = isRoot
  ? undefined
  : "the worker lets only root inspect it (PR_SET_DUMPABLE)";

/** The reason why a process cannot have its own mounts here; `undefined` if it can. */
export const reasonAgainstMounts: string | undefined = (() => {
  const [command, ...args] = [...ownMounts(), "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"];
  const { status, stderr, error } = spawnSync(command!, args, { encoding: "utf8" });
  if (status === 0) return undefined;
  return `mount is not permitted (${error?.message ?? stderr.trim()})`;
})();

/** The reason why system calls cannot be traced here; `undefined` if they can. */
export const reasonAgainstTracing: string | undefined = (() => {
  if (reasonAgainstInspection !== undefined) return reasonAgainstInspection;
  const { status, error } = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]);
  return status === 0 ? undefined : `strace does not run (${error?.message ?? status})`;
})();

/**
 * Registers a test that needs an ability of the machine. A `reason` against it is printed, and the test
 * counts as skipped. Give each such test a neighbour that runs everywhere.
 */
export function testUnless(reason: string | undefined, name: string, act: () => Promise<void>): void {
  if (reason !== undefined) console.log(`not run: ${name}, because ${reason}`);
  test.skipIf(reason !== undefined)(name, act);
}
