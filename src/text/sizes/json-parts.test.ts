import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonPartsOf } from "./json-parts.ts";

test("the parts make the text of JSON.stringify", () => {
  const value = fc.oneof(fc.jsonValue(), fc.constant(undefined), fc.string({ unit: "binary" }));
  const list = fc
    .oneof(fc.array(value), value)
    .chain((one) => fc.constantFrom(one, Array(501).fill(one), Array(1500).fill({ a: one })));
  fc.assert(
    fc.property(fc.dictionary(fc.string(), list), (answer) => {
      expect([...jsonPartsOf(answer)].join("")).toBe(JSON.stringify(answer));
    }),
    { numRuns: 300 },
  );
});

test("a long list has many parts", () => {
  const answer = {
    results: Array.from({ length: 50_000 }, (_, index) => ({ path: `${index}` })),
    more: true,
  };
  expect([...jsonPartsOf(answer)].length).toBeGreaterThan(100);
});

test.each(["text", 7, null, true, [1, [2]], {}])(
  "%j, which is no object with fields, is one part",
  (answer) => {
    expect([...jsonPartsOf(answer)]).toEqual([JSON.stringify(answer)]);
  },
);
