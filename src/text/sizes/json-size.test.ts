import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { jsonBytes, measureJson, objectBytes } from "./json-size.ts";

const encoded = (value: unknown) => Buffer.byteLength(JSON.stringify(value));

test("counts what JSON.stringify writes, for any JSON value", () => {
  fc.assert(
    fc.property(fc.jsonValue({ stringUnit: "binary" }), (value) => {
      expect(jsonBytes(value)).toBe(encoded(value));
      expect(runAtOnce(measureJson(value))).toBe(encoded(value));
    }),
    { numRuns: 2000 },
  );
});

test("counts very many entries of an answer in steps", () => {
  for (const length of [500, 501, 1000, 20_000]) {
    const answer = { results: Array.from({ length }, (_, index) => ({ path: `é${index}` })), more: [1, 2] };
    expect(runAtOnce(measureJson(answer))).toBe(encoded(answer));
    expect([...measureJson(answer)]).toHaveLength(Math.floor(length / 500));
  }
});

test.each<[string, unknown]>([
  ["many texts of medium length", { files: Array(100).fill({ content: "é".repeat(20_000) }) }],
  ["many lists in a list", { files: Array(100).fill({ lines: Array(500).fill("text") }) }],
  ["one list in many values", { files: [{ matches: Array(50_000).fill({ line: 1 }) }] }],
])("counts %s in a hundred steps", (_, answer) => {
  expect(runAtOnce(measureJson(answer))).toBe(encoded(answer));
  expect([...measureJson(answer)].length).toBeGreaterThanOrEqual(100);
});

test("takes the bytes of a field that was counted before for those of its value", () => {
  const fields = { text: 'é "', count: 12, absent: undefined };
  expect(objectBytes(fields)).toBe(encoded(fields));
  expect(objectBytes(fields, { text: encoded(fields.text) + 1000 })).toBe(encoded(fields) + 1000);
});

test("counts every control character, quote, backslash and width of UTF-8", () => {
  for (let unit = 0; unit < 0x3000; unit++) {
    const text = String.fromCharCode(unit);
    expect(jsonBytes(text)).toBe(encoded(text));
  }
  expect(jsonBytes("a😀é€")).toBe(encoded("a😀é€"));
});

test("counts long texts, with a surrogate pair at every place where one piece may end", () => {
  const tail = '\n"é😀'.repeat(100);
  for (let length = 8180; length < 8200; length++) {
    const text = `${"x".repeat(length)}😀${tail}`;
    expect(jsonBytes(text)).toBe(encoded(text));
  }
});

test("leaves undefined fields out, as JSON.stringify does", () => {
  const value = { a: undefined, b: 1, c: [1.5, Number.NaN, true, null] };
  expect(jsonBytes(value)).toBe(encoded(value));
});
