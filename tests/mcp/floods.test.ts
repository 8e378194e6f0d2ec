/** Tests that long answers, which would fill a model's context, are limited by default and say so. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { Tree } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

/** 3,600 files in 120 folders, four levels deep. */
const flood: Tree = Object.fromEntries(
  Array.from({ length: 40 }, (_, folder) =>
    Array.from({ length: 45 }, (_, file) => [
      [`pkg-${folder}/a-rather-long-name-of-a-file-${file}.ts`, ""],
      [`pkg-${folder}/src/lib/another-long-name-of-a-file-${file}.ts`, ""],
    ]),
  ).flat(2),
);

describe("a tree of thousands of files", () => {
  let connected: McpFixture;
  const tree = async (args: object) => textOf(await connected.call("coder_tree", { ...args }));

  beforeAll(async () => {
    connected = await connectStdio("executable", { tree: flood });
  });

  afterAll(() => connected[Symbol.asyncDispose]());

  test("takes at most 32 KiB, and shows every level", async () => {
    const text = await tree({});
    const notes = text.split("\n").filter((line) => line.startsWith("["));
    expect(notes).toEqual(["[… is left out: send a larger max_bytes, or that folder as path]"]);
    expect(Buffer.byteLength(text)).toBeLessThanOrEqual(32_768 + notes[0]!.length);
    expect(Buffer.byteLength(text)).toBeGreaterThan(28_000);
    for (let folder = 0; folder < 40; folder++) expect(text).toContain(`\n  pkg-${folder}/\n`);
    expect(text).toMatch(/\n {6}lib\/\n {8}another-long/);
    expect(text).toMatch(/\n {4}… \d+ of 46\n/);
  });

  test("shows all of it where max_bytes says so", async () => {
    const text = await tree({ max_bytes: 1_000_000, per_folder_limit: 100 });
    expect(text.match(/\.ts$/gm)).toHaveLength(3600);
    expect(text).not.toContain("…");
  });
});
