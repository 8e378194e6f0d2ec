import { expect, test } from "bun:test";
import { postFiles, readFiles } from "./posted-files.ts";
import type { HeldFolder, Run } from "./walk.ts";

const run = (path: string, descriptor: number, names: Run["names"]): Run => ({
  folder: { folder: { path, descriptor } } as HeldFolder,
  names,
});

const runs = [
  run("", 7, ["a b", "ж"]),
  run("in", 8, []),
  run("in/deep", 9, [Buffer.from("\xff", "latin1"), "c", Buffer.from("\xfe.", "latin1")]),
];

test("what is posted is read as it was, without the runs that have no files", () => {
  const read = readFiles(postFiles(runs, true)).map(({ prefix, names }) => ({ prefix, names }));
  expect(read).toEqual([
    { prefix: "", names: runs[0]!.names },
    { prefix: "in/deep/", names: runs[2]!.names },
  ]);
});

test("without prefixes nothing of the paths is posted", () => {
  expect(postFiles(runs, false)).toEqual({
    folders: "7/a b/ж//9/./c/.",
    bytes: [runs[2]!.names[0] as Buffer, runs[2]!.names[2] as Buffer],
    prefixes: "",
  });
});
