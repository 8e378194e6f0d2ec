import { expect, test } from "bun:test";
import { parseDirents } from "./dirents.ts";
import type { EntryKind } from "./kind.ts";

/** Returns a record whose name is followed by old bytes of the buffer, since the system clears nothing. */
function record(name: string, type: number): Buffer {
  const bytes = Buffer.alloc(Math.ceil((19 + name.length + 1) / 8) * 8, 0x5a);
  bytes.writeUInt16LE(bytes.length, 16);
  bytes[18] = type;
  bytes.write(`${name}\0`, 19, "latin1");
  return bytes;
}

const parse = (...records: Buffer[]): { name: string; kind: EntryKind | undefined }[] => {
  const dirents: { name: string; kind: EntryKind | undefined }[] = [];
  const bytes = Buffer.concat(records);
  parseDirents(Buffer.concat([bytes, record("behind", 8)]), bytes.length, (own, from, to, kind) =>
    dirents.push({ name: own.toString("latin1", from, to), kind }),
  );
  return dirents;
};

test("records are entries, but for the folder itself and its parent", () => {
  const names = ["...", ".a", "..b", "a", "abcd", "abcde", "sixteen letters.", "\xff\x80", "n".repeat(255)];
  const records = ["a", ".", "..", ...names].map((name) => record(name, 8));
  expect(parse(...records).map(({ name }) => name)).toEqual(["a", ...names]);
  expect(parse()).toEqual([]);
});

test("types are kinds, and some file systems tell none", () => {
  const kinds = [0, 1, 2, 4, 6, 8, 10, 12, 14, 200].map((type) => parse(record("x", type))[0]!.kind);
  expect(kinds).toEqual([
    undefined,
    "other",
    "other",
    "dir",
    "other",
    "file",
    "symlink",
    "other",
    undefined,
    undefined,
  ]);
});
