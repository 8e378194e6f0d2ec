import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { backends, openDescriptors } from "../jail/sandbox.ts";
import { freeOldFiles, holdOld, OldFile } from "./old-file.ts";
import { TestBench } from "./workbench.ts";

test("replaced files are let go of in the background, and some at once where there are many", async () => {
  using bench = new TestBench(backends[0]!, { "base/a": "text" });
  await freeOldFiles();
  const before = openDescriptors(bench.root);
  const held = Array.from({ length: 20 }, () => new OldFile(openSync(bench.at("base/a"), "r")));
  expect(openDescriptors(bench.root)).toBe(before + 20);
  for (const old of held) {
    old.isReplaced = true;
    old[Symbol.dispose]();
  }
  expect(openDescriptors(bench.root)).toBe(before + 8);
  expect(await freeOldFiles()).toBe(true);
  expect(openDescriptors(bench.root)).toBe(before);
  expect(await freeOldFiles()).toBe(false);
});

test("a file that was not replaced is let go of at once", async () => {
  using bench = new TestBench(backends[0]!, { "base/a": "text" });
  await freeOldFiles();
  const before = openDescriptors(bench.root);
  new OldFile(openSync(bench.at("base/a"), "r"))[Symbol.dispose]();
  expect(openDescriptors(bench.root)).toBe(before);
});

test("a file that cannot be opened is not held", () => {
  using bench = new TestBench(backends[0]!, { "base/d": null });
  using place = bench.jailed.admit("d");
  const unreadable = { ...place, open: () => openSync(bench.at("base/nothing"), "r") };
  expect(holdOld(unreadable)).toBeUndefined();
});
