/** What this machine lets a test do, and why not. */

import { test } from "bun:test";
import { spawnSync } from "node:child_process";
import { ownMounts } from "./driver-fixture.ts";

export const isRoot = process.getuid!() === 0;

/** Why the descriptors of a worker cannot be read, nor its calls be traced; undefined when they can. */
export const reasonAgainstInspection = isRoot
  ? undefined
  : "the worker lets only root inspect it (PR_SET_DUMPABLE)";

/** Why a process cannot have mounts of its own here; undefined when it can. */
export const reasonAgainstMounts: string | undefined = (() => {
  const [command, ...args] = [...ownMounts(), "sh", "-c", "mount -t tmpfs -o size=64k none /mnt"];
  const { status, stderr, error } = spawnSync(command!, args, { encoding: "utf8" });
  if (status === 0) return undefined;
  return `mount is not permitted (${error?.message ?? stderr.trim()})`;
})();

/** Why system calls cannot be watched here; undefined when they can. */
export const reasonAgainstTracing: string | undefined = (() => {
  if (reasonAgainstInspection !== undefined) return reasonAgainstInspection;
  const { status, error } = spawnSync("strace", ["-qq", "-e", "trace=none", "true"]);
  return status === 0 ? undefined : `strace does not run (${error?.message ?? status})`;
})();

/**
 * A test that needs something of the machine. Where there is a `reason` against it, it is skipped, which counts it, and
 * the reason is printed. Give each such test a neighbour that needs nothing.
 */
export function testUnless(reason: string | undefined, name: string, act: () => Promise<void>): void {
  if (reason !== undefined) console.log(`not run: ${name}, because ${reason}`);
  test.skipIf(reason !== undefined)(name, act);
}
