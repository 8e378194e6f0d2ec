import { expect } from "bun:test";
import { execFileSync } from "node:child_process";
import { join } from "node:path";
import { ownMounts } from "../../../tests/faults/driver-fixture.ts";
import { reasonAgainstMounts, testUnless } from "../../../tests/faults/machine.ts";

testUnless(
  reasonAgainstMounts,
  "what is mounted below the base is not watched, and mounts that come or go are noticed",
  async () => {
    const program = join(import.meta.dir, "mounts.test-kit.ts");
    const [command, ...args] = [...ownMounts(), process.execPath, program];
    const report = JSON.parse(execFileSync(command!, args, { encoding: "utf8" }));
    const all = ["d/f", "d/point/g", "e/f"];
    const noticed = { isComplete: false, reason: "mounts" };
    expect(report).toEqual([
      // A mount beside the base changes nothing.
      [{ isComplete: true }, true, all, []],
      [noticed, true, ["d/f", "e/f"], ["d/point mount"]],
      [noticed, true, all, []],
      [noticed, true, ["d/f", "e/f"], ["d/point mount"]],
      [noticed, true, all, []],
      // The file is written to under the path it is mounted from, which raises no event in the tree.
      [noticed, true, ["e/f"], ["d mount"]],
      [noticed, true, all, []],
    ]);
  },
);
