import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { writeJson } from "./write-json.ts";

test("the text is that of JSON.stringify", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string({ unit: "binary" }));
  const list = fc
    .oneof(fc.array(value), value)
    .chain((one) => fc.constantFrom(one, Array(501).fill(one), Array(1500).fill({ a: one })));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), list), (answer) => {
      expect(runAtOnce(writeJson(answer))).toBe(JSON.stringify(answer));
    }),
    { numRuns: 300 },
  );
});

test("a long list is written in steps", () => {
  const answer = {
    results: Array.from({ length: 50_000 }, (_, index) => ({ path: `${index}` })),
    more: true,
  };
  expect([...writeJson(answer)].length).toBeGreaterThan(100);
});
