import { expect, test } from "bun:test";
import fc from "fast-check";
import { jsonPartsOf } from "./json-parts.ts";

const written = (value: unknown): string => [...jsonPartsOf(value)].join("");

test("the parts make the text of JSON.stringify", () => {
  const item = fc.oneof(
    fc.jsonValue(),
    fc.constantFrom(undefined, new Date(0), { a: undefined, b: [undefined] }, Object.create(null)),
    fc.string({ unit: "binary" }),
  );
  const list = fc
    .oneof(fc.array(item), item)
    .chain((one) =>
      fc.constantFrom(one, [[one]], Array(501).fill(one), { list: Array(1500).fill({ a: one }) }),
    );
  const longText = fc.constantFrom("é🙂\n", "\ud83d", '"').map((unit) => unit.repeat(70_000));
  const value = fc.oneof({ arbitrary: list, weight: 5 }, { arbitrary: longText, weight: 1 });
  fc.assert(
    fc.property(fc.dictionary(fc.string(), value), (answer) => {
      expect(written(answer) === JSON.stringify(answer)).toBeTrue();
      for (const field of Object.values(answer))
        expect(written([field]) === JSON.stringify([field])).toBeTrue();
    }),
    { numRuns: 50 },
  );
});

test("what is written instead of a value is chosen by its key", () => {
  const entry = { error: "old", more: { error: "old", count: 1 }, list: [{ error: "old" }, "error"] };
  const replace = (key: string, value: unknown) => (key === "error" ? `new ${value}` : value);
  for (const value of [entry, [entry], { results: Array(501).fill(entry), error: "x".repeat(100_000) }])
    expect([...jsonPartsOf(value, replace)].join("")).toBe(JSON.stringify(value, replace));
});

test.each([
  ["a long list", { results: Array.from({ length: 50_000 }, (_, index) => ({ path: `${index}` })) }],
  ["a long text", { content: "é".repeat(5_000_000) }],
  ["a long list of texts", { results: Array(501).fill({ content: "é".repeat(16_000) }) }],
  ["a long list of lists", { results: Array(501).fill({ lines: Array(200).fill("é".repeat(80)) }) }],
  ["a long text in a list", { results: [{ path: "a", content: "é".repeat(5_000_000) }] }],
])("%s has parts of at most 128 Ki characters", (_, answer) => {
  const parts = [...jsonPartsOf(answer)];
  expect(Math.max(...parts.map(({ length }) => length))).toBeLessThan(140_000);
  expect(parts.length).toBeGreaterThan(30);
});
