import { expect, test } from "bun:test";
import { injectBlob, makeBlob } from "./single-executable.ts";

const fuse = "NODE_SEA_FUSE_fce680ab2cc467b6e072b8b5df1996b2";
const load = { at: 52, type: 1, offset: 256, address: 0x10100, fileSize: 128, memorySize: 203 };
const note = { at: 84, type: 4, offset: 128, address: 0x10080, fileSize: 8, memorySize: 8 };

/**
 * Returns a 32-bit ELF file with one loaded segment, a note of 8 bytes, a fuse, and symbols after everything
 * else.
 */
function node(digit = "0"): Buffer {
  const file = Buffer.alloc(600, "s");
  file.fill(0, 0, 256);
  file.write("\x7fELF\x01\x01", 0, "latin1");
  file.writeUInt32LE(52, 28);
  file.writeUInt32LE(500, 32);
  for (const [index, half] of [52, 32, 2, 40, 2, 1].entries()) file.writeUInt16LE(half, 40 + 2 * index);
  for (const { at, type, offset, address, fileSize, memorySize } of [load, note]) {
    const fields = [type, offset, address, address, fileSize, memorySize];
    for (const [index, word] of fields.entries()) file.writeUInt32LE(word, at + 4 * index);
  }
  file.write("old note", note.offset);
  file.fill("d", load.offset, load.offset + load.fileSize);
  file.write(`${fuse}:${digit}`, load.offset);
  return file;
}

const names = ["type", "offset", "address", "physical", "fileSize", "memorySize"];

const header = (file: Buffer, at: number) =>
  Object.fromEntries(names.map((name, index) => [name, file.readUInt32LE(at + 4 * index)]));

test("the blob is a note at the end of the last segment, after what is zero at start", () => {
  const made = injectBlob(node(), Buffer.from("the blob"));
  const start = load.offset + 204; // rounded up to words
  const added = Buffer.concat([
    Buffer.from("old note"),
    Buffer.from(new Uint32Array([14, 8, 0]).buffer),
    Buffer.from("NODE_SEA_BLOB\0\0\0the blob"),
  ]);
  expect(made.subarray(start)).toEqual(added);
  expect(made.subarray(load.offset + load.fileSize, start)).toEqual(Buffer.alloc(204 - load.fileSize));
  const size = 204 + added.length;
  expect(header(made, load.at)).toMatchObject({ offset: load.offset, fileSize: size, memorySize: size });
  const address = load.address + 204;
  const noteSize = added.length;
  expect(header(made, note.at)).toEqual({
    type: 4,
    offset: start,
    address,
    physical: address,
    fileSize: noteSize,
    memorySize: noteSize,
  });
});

test("no sections are left to be looked for", () => {
  const made = injectBlob(node(), Buffer.from("x"));
  expect(made.readUInt32LE(32)).toBe(0);
  expect(made.subarray(46, 52)).toEqual(Buffer.alloc(6));
});

test("the fuse is lit, and only an unlit one will do", () => {
  expect(injectBlob(node(), Buffer.from("x")).includes(`${fuse}:1`)).toBe(true);
  expect(() => injectBlob(node("1"), Buffer.from("x"))).toThrow("fuse");
});

test("what is no 32-bit ELF file is refused", () => {
  expect(() => injectBlob(Buffer.from("#!/bin/sh\n"), Buffer.from("x"))).toThrow("not a 32-bit");
});

test("the blob has magic, flags, name and code, with lengths of 32 bits", () => {
  const blob = makeBlob("a.cjs", Buffer.from("é"));
  expect(blob.toString("hex")).toBe(
    ["20da4301", "01000000", "05000000", "612e636a73", "02000000", "c3a9"].join(""),
  );
});
