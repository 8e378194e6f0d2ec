import { expect, test } from "bun:test";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { stampWords } from "../../filesystem/jail/stamps.ts";
import { ContentIndex } from "./content-index.ts";
import { type NeededNgrams, neededNgrams } from "./needed-ngrams.ts";
import { type SignedFiles, signed } from "./sign-files.ts";

const needed = neededNgrams([[["needle"]]]) as NeededNgrams;

/** Returns a file with this inode whose stamps alone are known. */
const fileWith = (inode: number): SignedFiles => ({
  outcomes: Uint8Array.of(signed.yes),
  flags: Uint8Array.of(0),
  stamps: Uint32Array.from({ length: stampWords }, (_, at) => (at === 0 ? inode : 1)),
  bits: Uint8Array.of(0),
  words: new Uint32Array(0),
});

test("news waits while searches hold the index, and where it is much, searches wait for it", async () => {
  const judge = () => index.judge(needed, createTimeSlice(1));
  const index = new ContentIndex(2 ** 20);
  for (let inode = 1; inode <= 9; inode++) index.take(fileWith(inode));
  expect(await judge()).toBeDefined();
  index.take(fileWith(10));
  expect(await judge()).toBeDefined();
  index.take(fileWith(11));
  expect(await judge()).toBeUndefined();
  index.release();
  expect([index.state.files, await judge()]).toEqual([9, undefined]);
  index.release();
  expect(index.state.files).toBe(11);
  expect(await judge()).toBeDefined();
});
