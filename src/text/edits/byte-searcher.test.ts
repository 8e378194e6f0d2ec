import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { ByteSearcher } from "./byte-searcher.ts";

const find = (needle: Buffer, body: Buffer, from: number): number =>
  runAtOnce(new ByteSearcher(needle).find(body, from));

const few = fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 200 }).map((bytes) => Buffer.from(bytes));

test("finds what the runtime's own search finds", () => {
  const needle = fc.oneof(
    few.filter(({ length }) => length > 0),
    // Long and periodic needles, which make other searches slow.
    fc
      .tuple(fc.integer({ min: 30, max: 60 }), few)
      .map(([n, end]) => Buffer.concat([Buffer.alloc(n, 0x61), end])),
  );
  const body = fc
    .tuple(fc.array(needle, { maxLength: 4 }), few)
    .map(([parts, end]) => Buffer.concat([...parts, end]));
  fc.assert(
    fc.property(needle, body, fc.nat(20), (bytes, text, from) => {
      expect(find(bytes, text, from)).toBe(text.indexOf(bytes, from));
    }),
    { numRuns: 2000 },
  );
});

test("a needle that is in the body is found, behind many that begin alike", () => {
  const needle = Buffer.from(`${"ab".repeat(100)}c`);
  const body = Buffer.concat([Buffer.from("ab".repeat(1000)), needle, Buffer.from("ab".repeat(50))]);
  expect(find(needle, body, 3)).toBe(2000);
  expect(find(needle, body, 2001)).toBe(-1);
});

test("a long needle in a long body is searched for in steps", () => {
  const needle = Buffer.from(`${"ab".repeat(1_000_000)}c`);
  const body = Buffer.concat([Buffer.from("ab".repeat(500_000)), Buffer.from("b"), needle]);
  expect(find(needle, body, 0)).toBe(1_000_001);
  expect(find(needle, Buffer.concat([body, needle]), 1_000_002)).toBe(3_000_002);
  expect(find(needle, body, 1_000_002)).toBe(-1);
  expect([...new ByteSearcher(needle).find(body, 0)].length).toBeGreaterThan(4);
});
