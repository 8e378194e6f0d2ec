import { expect, spyOn, test } from "bun:test";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { ContentIndex } from "./content-index.ts";
import { FileRecords, fileFlags } from "./file-records.ts";
import { type NeededNgrams, neededNgrams } from "./needed-ngrams.ts";
import { signedOf } from "./saved-index.test-kit.ts";
import { type SignedFiles, signed } from "./sign-files.ts";
import { SignatureBlocks } from "./signature-blocks.ts";

const needed = neededNgrams([[["needle"]]]) as NeededNgrams;

/** Returns a file with this inode whose stamps alone are known. */
const fileWith = (inode: number, others = 1): SignedFiles => ({
  outcomes: Uint8Array.of(signed.yes),
  flags: Uint8Array.of(0),
  stamps: Uint32Array.from({ length: stampWords }, (_, at) => (at === 0 ? inode : at < 4 ? 1 : others)),
  bits: Uint8Array.of(0),
  words: new Uint32Array(0),
});

test("news waits while searches hold the index, and where it is much, searches wait for it", async () => {
  const judge = () => index.judge(needed, createTimeSlice(1));
  const index = new ContentIndex(2 ** 20);
  for (let inode = 1; inode <= 9; inode++) await index.take(fileWith(inode));
  expect(await judge()).toBeDefined();
  await index.take(fileWith(10));
  expect(await judge()).toBeDefined();
  const stored = index.take(fileWith(11));
  expect(await judge()).toBeUndefined();
  index.release();
  expect([index.state.files, await judge()]).toEqual([9, undefined]);
  index.release();
  await stored;
  expect(index.state.files).toBe(11);
  expect(await judge()).toBeDefined();
});

test("a file is stored at once if the index has room for it and no search holds it", () => {
  const index = new ContentIndex(2 ** 20);
  void index.take(fileWith(1));
  void index.take(fileWith(2));
  expect(index.state.files).toBe(2);
});

test("a full index says so, and replaces the records of the files that it knows", async () => {
  // A quarter of the memory has room for a table of 512 files.
  const index = new ContentIndex(2 ** 17);
  for (let inode = 1; inode <= 512; inode++) await index.take(fileWith(inode));
  const before = await index.judge(needed, createTimeSlice(1));
  expect(before?.isFull).toBe(true);
  index.release();
  await index.take(fileWith(513));
  await index.take(fileWith(7, 2));
  expect(index.state.files).toBe(512);
  const after = await index.judge(needed, createTimeSlice(1));
  const records = new FileRecords(after!.records);
  expect(records.hasStamps(6, fileWith(7, 2).stamps)).toBe(true);
  expect(records.find(fileWith(513).stamps)).toBe(-1);
  index.release();
});

test("a file for whose signature the system has no memory is read by each search, also if an older one is known", async () => {
  const index = new ContentIndex(2 ** 22);
  await index.take(signedOf(Array.from({ length: 20 }, (_, at) => [at + 1, 10, [5]] as const)));
  const add = spyOn(SignatureBlocks.prototype, "add");
  add.mockImplementation(() => {
    throw new RangeError("Out of memory");
  });
  const failing = [signedOf([[100, 10, [3]]]), signedOf([[7, 10, [3]]])];
  try {
    for (const files of failing) await index.take(files);
  } finally {
    add.mockRestore();
  }
  const records = new FileRecords(index.holdRecords());
  for (const { stamps } of failing) expect(records.flags(records.find(stamps))).toBe(fileFlags.alwaysRead);
  index.release();
});

test("a search that fails does not hold the index for good", async () => {
  const index = new ContentIndex(2 ** 22);
  for (let inode = 1; inode <= 9; inode++) await index.take(fileWith(inode));
  const visit = spyOn(SignatureBlocks.prototype, "visit");
  visit.mockImplementationOnce(() => {
    throw new RangeError("Out of memory");
  });
  const slice = spyOn(SignatureBlocks.prototype, "slice");
  slice.mockImplementationOnce(() => {
    throw new RangeError("Out of memory");
  });
  await expect(index.judge(needed, createTimeSlice())).rejects.toThrow("Out of memory");
  await expect(index.hold()).rejects.toThrow("Out of memory");
  await index.take(fileWith(10));
  await index.take(fileWith(11));
  expect(index.state.files).toBe(11);
  visit.mockRestore();
  slice.mockRestore();
});

test("many files are stored in slices, and the rest once no search holds the index that began between two", async () => {
  const index = new ContentIndex(2 ** 22);
  for (let inode = 1; inode <= 30; inode++) await index.take(fileWith(inode));
  const clock = spyOn(performance, "now");
  let now = 0;
  clock.mockImplementation(() => (now += 10));
  const stored = index.take(signedOf(Array.from({ length: 4 }, (_, at) => [at + 31, 8, [at]])));
  expect(index.state.files).toBe(31);
  index.holdRecords();
  for (let turn = 0; turn < 9; turn++) await new Promise((resolve) => setImmediate(resolve));
  expect(index.state.files).toBe(31);
  index.release();
  await stored;
  await index.hold();
  expect(index.state.files).toBe(34);
  clock.mockRestore();
});
