import { expect, test } from "bun:test";
import { escapeInvisible, quoteVisibly } from "./quote.ts";

test.each([
  ["plain é 漢字 🙂", "plain é 漢字 🙂"],
  ["a\nb\tc", String.raw`a\nb\tc`],
  ["\u001b[2K\u007f\u009b", String.raw`\u001b[2K\u007f\u009b`],
  ["a\u202eb\u2066c\u200bd\ufeffe", String.raw`a\u202eb\u2066c\u200bd\ufeffe`],
  ["a\u2028b\u2029c", String.raw`a\u2028b\u2029c`],
  ["\ud800", String.raw`\ud800`],
  ["\u{e0041}", String.raw`\udb40\udc41`],
])("%j is shown without what cannot be seen", (text, shown) => {
  expect(escapeInvisible(text)).toBe(shown);
});

test("quotes as JSON, which reads it back", () => {
  const text = '"\\\u001b\u007f\u202e\u{e0041}\u2028';
  expect(JSON.parse(quoteVisibly(text))).toBe(text);
  expect(quoteVisibly(text)).toBe(String.raw`"\"\\\u001b\u007f\u202e\udb40\udc41\u2028"`);
});
