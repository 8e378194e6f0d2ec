/** Changes of content that the kernel does not report, and how they show nevertheless: see decision 32. */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  constants,
  linkSync,
  openSync,
  readFileSync,
  unlinkSync,
  writeSync,
} from "node:fs";
import { hasNoWriter, readStamps, stamps } from "../jail/stamps.ts";
import { mapShared } from "./torture-writer.test-kit.ts";
import { TreeFixture } from "./watched-tree.test-kit.ts";

/** Returns the facts that a reader of the file may rely on. */
function read(path: string): { readonly hasNoWriter: boolean; readonly stamps: string } {
  const descriptor = openSync(path, constants.O_RDONLY);
  try {
    expect(readStamps(descriptor)).toBe(true);
    return { hasNoWriter: hasNoWriter(descriptor), stamps: stamps.join() };
  } finally {
    closeSync(descriptor);
  }
}

test("a file that nobody writes is dirty after each write", async () => {
  using fixture = await new TreeFixture({ f: "text" }).build();
  const before = read(fixture.at("f"));
  expect(before.hasNoWriter).toBe(true);
  appendFileSync(fixture.at("f"), "more");
  expect(await fixture.drain()).toEqual(["f"]);
  expect(read(fixture.at("f")).stamps).not.toBe(before.stamps);
});

test("a write by a name that is gone: the file has a writer for who reads it by its other name", async () => {
  using fixture = await new TreeFixture({ f: "" }).build();
  const descriptor = openSync(fixture.at("f"), "r+");
  linkSync(fixture.at("f"), fixture.at("g"));
  unlinkSync(fixture.at("f"));
  expect(await fixture.drain()).toEqual(["g"]);
  expect(read(fixture.at("g")).hasNoWriter).toBe(false);
  writeSync(descriptor, "text");
  expect(await fixture.drain()).toEqual([]);
  closeSync(descriptor);
  expect(read(fixture.at("g")).hasNoWriter).toBe(true);
});

test("a store through a mapping: the file has a writer meanwhile, and is dirty when the mapping ends", async () => {
  using fixture = await new TreeFixture({ f: "text" }).build();
  const mapping = mapShared(fixture.at("f"));
  expect(read(fixture.at("f")).hasNoWriter).toBe(false);
  mapping.store(0x41);
  expect(await fixture.drain()).toEqual([]);
  expect(readFileSync(fixture.at("f"), "utf8")).toBe("Aext");
  mapping.end();
  expect(await fixture.drain()).toEqual(["f"]);
  expect(read(fixture.at("f")).hasNoWriter).toBe(true);
});

test("a write by a name outside of the tree that was made later: its stamps change", async () => {
  using fixture = await new TreeFixture({ f: "text" }).build();
  const before = read(fixture.at("f"));
  linkSync(fixture.at("f"), fixture.at("../outside/f"));
  appendFileSync(fixture.at("../outside/f"), "more");
  expect(await fixture.drain()).toEqual([]);
  expect(read(fixture.at("f")).stamps).not.toBe(before.stamps);
});
