import { expect, test } from "bun:test";
import { revisionOfBytes } from "./revision.ts";

test("a revision is the SHA-256 digest of all bytes, in however many pieces they are", () => {
  // The vector "abc" of FIPS 180-4.
  const abc = "sha256:ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
  const pieces = (...texts: string[]) => texts.map((text) => Buffer.from(text));
  expect(revisionOfBytes(pieces("abc"))).toBe(abc);
  expect(revisionOfBytes(pieces("a", "", "bc"))).toBe(abc);
  expect(revisionOfBytes([])).toBe(revisionOfBytes(pieces("")));
});
