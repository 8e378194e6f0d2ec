import { expect, test } from "bun:test";
import fc from "fast-check";
import { excerpt, excerptOfLines } from "./line-text.ts";

const line = fc
  .array(fc.constantFrom("a", "b", " ", "é", "漢", "😀"), { maxLength: 60 })
  .map((parts) => parts.join(""));

test("an excerpt shows the start of the match, and says where it is cut", () => {
  fc.assert(
    fc.property(line, line, fc.integer({ min: 0, max: 40 }), (before, after, limit) => {
      const text = Buffer.from(`${before}${after}`);
      const at = Buffer.byteLength(before);
      const shown = excerpt(text, { start: 0, end: text.length, at, limit });
      const isWhole = text.length <= limit;
      if (isWhole) expect(shown).toBe(`${before}${after}`);
      const inner = shown.replace(/^…/, "").replace(/…$/, "");
      expect(Buffer.byteLength(inner)).toBeLessThanOrEqual(Math.max(limit, isWhole ? text.length : 0));
      const place = Buffer.from(inner);
      const from = shown.startsWith("…")
        ? Array.from({ length: text.length + 1 }, (_, i) => i).filter((i) => startsAt(text, place, i))
        : [0];
      // Some occurrence of it contains the match, and a side without "…" reaches that end of the text.
      const reach = limit >= 8 && at < text.length ? 1 : 0;
      expect(from.some((start) => start <= at && at + reach <= start + place.length)).toBe(true);
      if (!shown.startsWith("…")) expect(text.toString()).toStartWith(inner);
      if (!shown.endsWith("…")) expect(text.toString()).toEndWith(inner);
    }),
    { numRuns: 500 },
  );
});

const startsAt = (text: Buffer, part: Buffer, at: number) => text.subarray(at, at + part.length).equals(part);

test("the lines of a match are cut one by one, with their endings, and end after 4 KiB", () => {
  const text = Buffer.from(`aaaaaaaaaaxb\r\ncccccccccccccc\nd\n${"e\n".repeat(5000)}`);
  const whole = { start: 0, end: text.length - 1, at: 10, limit: 8 };
  const shown = excerptOfLines(text, whole);
  expect(shown).toStartWith("…aaaaaaxb\r\ncccccccc…\nd\ne\n");
  expect(shown).toEndWith("e\n…");
  expect(shown.length).toBeLessThan(4200);
  expect(excerptOfLines(text, { ...whole, end: 12 })).toBe("…aaaaaaxb");
});
