import { expect, test } from "bun:test";
import { stampWords } from "../jail/stamps.ts";
import { ContentIndex } from "./content-index.ts";
import { type NeededNgrams, neededNgrams } from "./needed-ngrams.ts";
import { type SignedFiles, signed } from "./sign-files.ts";

const needed = neededNgrams([[["needle"]]]) as NeededNgrams;

/** A file with this inode, of which nothing is known but its stamps. */
const fileWith = (inode: number): SignedFiles => ({
  outcomes: Uint8Array.of(signed.yes),
  flags: Uint8Array.of(0),
  stamps: Uint32Array.from({ length: stampWords }, (_, at) => (at === 0 ? inode : 1)),
  bits: Uint8Array.of(0),
  words: new Uint32Array(0),
});

test("news waits while searches hold the index, and after a second searches wait for it", () => {
  const clock = { now: 0 };
  const index = new ContentIndex(2 ** 20, () => clock.now);
  index.take(fileWith(1));
  expect(index.judge(needed)).toBeDefined();
  index.take(fileWith(2));
  clock.now = 999;
  index.take(fileWith(3));
  expect(index.judge(needed)).toBeDefined();
  index.release();
  expect(index.state.files).toBe(1);
  clock.now = 1000;
  expect(index.judge(needed)).toBeUndefined();
  index.release();
  expect(index.state.files).toBe(3);
  expect(index.judge(needed)).toBeDefined();
});
