import { expect, test } from "bun:test";
import { openSync } from "node:fs";
import { FilesFixture } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { awaitDeferredCloses, DeferredClose, holdForDeferredClose } from "./deferred-close.ts";

test("replaced files are let go of in the background, and some at once where there are many", async () => {
  using bench = new FilesFixture(backends[0]!, { a: "text" });
  await awaitDeferredCloses();
  const before = countDescriptorsBelow(bench.root);
  const held = Array.from({ length: 20 }, () => new DeferredClose(openSync(bench.at("a"), "r")));
  expect(countDescriptorsBelow(bench.root)).toBe(before + 20);
  for (const old of held) {
    old.isReplaced = true;
    old[Symbol.dispose]();
  }
  expect(countDescriptorsBelow(bench.root)).toBe(before + 8);
  expect(await awaitDeferredCloses()).toBe(true);
  expect(countDescriptorsBelow(bench.root)).toBe(before);
  expect(await awaitDeferredCloses()).toBe(false);
});

test("a file that was not replaced is let go of at once", async () => {
  using bench = new FilesFixture(backends[0]!, { a: "text" });
  await awaitDeferredCloses();
  const before = countDescriptorsBelow(bench.root);
  new DeferredClose(openSync(bench.at("a"), "r"))[Symbol.dispose]();
  expect(countDescriptorsBelow(bench.root)).toBe(before);
});

test("a file that cannot be opened is not held", () => {
  using bench = new FilesFixture(backends[0]!, { "d/": null });
  using place = bench.jailed.admit("d");
  const unreadable = { ...place, open: () => openSync(bench.at("nothing"), "r") };
  expect(holdForDeferredClose(unreadable)).toBeUndefined();
});
