import { expect, test } from "bun:test";
import fc from "fast-check";
import type { ByteClassSeq } from "./byte-classes.ts";
import { createSearchKernel, type FoldedString, type SearchKernel } from "./kernel.ts";
import { findLineBounds } from "./line-bounds.ts";
import { teddyMasksOf } from "./teddy.ts";

const kernel = createSearchKernel() as SearchKernel;

const fold = (text: string, pair: readonly [number, number]): FoldedString => ({
  bytes: Buffer.from(text.toLowerCase()),
  folds: Uint8Array.from(Buffer.from(text), (_, i) => (/[a-z]/i.test(text.charAt(i)) ? 0x20 : 0)),
  isExact: false,
  pair,
});

const verbatim = (text: string, pair: readonly [number, number]): FoldedString => ({
  bytes: Buffer.from(text),
  folds: new Uint8Array(text.length),
  isExact: true,
  pair,
});

test("finds what a search finds, as it is and in lower case, within the bounds", () => {
  const letters = fc.constantFrom(..."aAbBcK.@`[{ \n\0");
  const texts = fc.array(letters, { maxLength: 120 }).map((parts) => parts.join(""));
  const literals = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, literals, fc.nat(), fc.nat(), (text, literal, some, other) => {
      const from = some % (text.length + 1);
      const to = from + (other % (text.length - from + 1));
      const buffer = kernel.reserve(text.length + 64);
      buffer.fill(literal).write(text);
      const pair = [some % literal.length, other % literal.length] as const;
      const place = (found: number) => (found < 0 ? -1 : from + found);
      const exact = text.slice(from, to).indexOf(literal);
      expect(kernel.memmem(buffer, verbatim(literal, pair), from, to)).toBe(place(exact));
      const folded = text.slice(from, to).toLowerCase().indexOf(literal.toLowerCase());
      expect(kernel.memmem(buffer, fold(literal, pair), from, to)).toBe(place(folded));
    }),
    { numRuns: 2000 },
  );
});

test("a text that is not the one in its memory is refused", () => {
  const old = kernel.reserve(100);
  kernel.reserve(200);
  expect(() => kernel.memmem(old, verbatim("x", [0, 0]), 0, 10)).toThrow("not the one in the memory");
});

test("its buffer grows and keeps what is in it", () => {
  const text = "x".repeat(1000);
  kernel.reserve(text.length).write(text);
  const larger = kernel.reserve(5_000_000);
  expect(larger.length).toBe(5_000_000);
  expect(larger.toString("latin1", 0, text.length)).toBe(text);
  larger.write("Needle", larger.length - 6);
  expect(kernel.memmem(larger, fold("nEEDLE", [0, 3]), 0, larger.length)).toBe(larger.length - 6);
});

test("encloses a place by its line, and counts the newlines before that", () => {
  const bytes = fc.array(fc.constantFrom(10, 10, 13, 97, 97, 97, 0x8a), { maxLength: 300 });
  fc.assert(
    fc.property(bytes, fc.nat(), fc.nat(), fc.nat(), (content, some, other, third) => {
      const buffer = kernel.reserve(content.length + 64).fill(10);
      buffer.set(content);
      const hit = some % (content.length + 1);
      const from = buffer.lastIndexOf(10, other % (hit + 1)) + 1;
      if (from > hit) return;
      const known = { from, counted: third % (from + 1) };
      const [here, expected] = [kernel.lineBounds, findLineBounds].map((way) => {
        const line = { start: -1, next: -1, newlines: -1 };
        way(buffer, hit, known, line);
        return line;
      });
      expect(here).toEqual(expected!);
      expect(content.slice(known.counted, here!.start).filter((byte) => byte === 10)).toHaveLength(
        here!.newlines,
      );
    }),
    { numRuns: 2000 },
  );
});

/** Pairs of bytes, each standing for the range from the first to the last. */
const byteSet = fc
  .array(
    fc.constantFrom("aa", "bb", "--", "__", "00", "AA", "\xc3\xc3", "\xe2\xe2", "AZ", "09", "\x80\xff"),
    {
      minLength: 1,
      maxLength: 3,
    },
  )
  .map((ranges) => {
    const set = new Uint8Array(256);
    for (const range of ranges) set.fill(1, range.charCodeAt(0), range.charCodeAt(1) + 1);
    return set;
  });
const seqs = fc.array(fc.array(byteSet, { minLength: 1, maxLength: 16 }), { minLength: 1, maxLength: 10 });

/**
 * Returns whether a seq may stand at `at`, character by character. Seqs that share a bit stand for each
 * other.
 */
function mayStand(all: readonly ByteClassSeq[], text: Buffer, at: number): boolean {
  let alive = all.map((_, index) => index % 8);
  let reached = at;
  for (let position = 0; position < Math.max(...all.map(({ length }) => length)); position++) {
    const byte = text[reached]!;
    const may = (bit: number, what: number) =>
      all.some((seq, index) => index % 8 === bit && seq[position]?.[what] !== 0);
    alive = alive.filter((bit) => may(bit, byte));
    if (alive.length === 0) return false;
    if (byte >= 0x80 && alive.some((bit) => may(bit, 0xff))) return true;
    reached += byte < 0x80 ? 1 : byte < 0xe0 ? 2 : byte < 0xf0 ? 3 : 4;
  }
  return true;
}

test("finds the first place where one of some seqs may stand, within the bounds", () => {
  const texts = fc.array(fc.constantFrom(..."aabb--__00AAZZ9", "é", "€", "🚀", "\xff"), { maxLength: 120 });
  fc.assert(
    fc.property(seqs, texts, fc.nat(), (all, parts, some) => {
      const content = Buffer.from(parts.map((part) => (part === "\xff" ? "\ufffd" : part)).join(""));
      const masks = teddyMasksOf(all);
      const buffer = kernel.reserve(content.length + 64).fill("a-");
      content.copy(buffer);
      const from = some % (content.length + 1);
      let expected = -1;
      for (let at = content.length - masks.minLength; at >= from; at--) {
        if (mayStand(all, buffer, at)) expected = at;
      }
      const hasNonAscii = masks.hasNonAscii && content.some((byte) => byte >= 0x80);
      expect(kernel.teddy(buffer, masks, { from, to: content.length, hasNonAscii })).toBe(expected);
    }),
    { numRuns: 3000 },
  );
});
