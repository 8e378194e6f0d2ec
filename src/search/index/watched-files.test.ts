import { expect, test } from "bun:test";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { FileTable } from "../signatures/file-records.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Returns records of files with these inodes. */
function recordsOf(...inodes: number[]) {
  const table = new FileTable();
  for (const inode of inodes) table.put({ stamps: new Uint32Array(stampWords).fill(inode), flags: 0 });
  return table.records;
}

test("what a search has seen of a file holds until an event, and not at all where one came since the search began", () => {
  const files = new WatchedFiles();
  const records = recordsOf(7, 8);
  const first = files.begin(records);
  files.confirm(5000, 0, first);
  expect(files.recordOf(5000)).toBe(0);
  files.onDirty(5000);
  expect(files.recordOf(5000)).toBe(-1);
  files.confirm(5000, 0, first);
  expect(files.recordOf(5000)).toBe(-1);
  files.confirm(5000, 0, files.begin(records));
  expect(files.recordOf(5000)).toBe(0);
  files.onUnseenWrite();
  expect(files.recordOf(5000)).toBe(-1);
});

test("a file that gets another name is forgotten, also by a search that is under way", () => {
  const files = new WatchedFiles();
  const records = recordsOf(7, 8);
  const first = files.begin(records);
  for (const file of [0, 1]) files.confirm(file, file, first);
  files.onLinked(BigInt(records.inode(1)));
  files.confirm(2, 1, first);
  files.begin(records);
  expect([0, 1, 2].map((file) => files.recordOf(file))).toEqual([0, -1, -1]);
});

test("rules hold until a file changes that they were read from", () => {
  const files = new WatchedFiles();
  files.watchRules(3);
  const { rulesVersion } = files;
  files.onDirty(2);
  expect(files.rulesVersion).toBe(rulesVersion);
  files.onDirty(3);
  expect(files.rulesVersion).toBeGreaterThan(rulesVersion);
});
