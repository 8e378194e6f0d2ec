import { expect, test } from "bun:test";
import fc from "fast-check";
import { type FoldedString, type Kernel, openKernel } from "./kernel.ts";

const kernel = openKernel() as Kernel;

const fold = (text: string, rare: readonly [number, number]): FoldedString => ({
  bytes: Buffer.from(text.toLowerCase()),
  folds: Uint8Array.from(Buffer.from(text), (_, i) => (/[a-z]/i.test(text.charAt(i)) ? 0x20 : 0)),
  rare,
});

test("finds what a search in lower case finds, within the bounds", () => {
  const letters = fc.constantFrom(..."aAbBcK.@`[{ \n\0");
  const texts = fc.array(letters, { maxLength: 120 }).map((parts) => parts.join(""));
  const needles = fc.array(letters, { minLength: 1, maxLength: 4 }).map((parts) => parts.join(""));
  fc.assert(
    fc.property(texts, needles, fc.nat(), fc.nat(), (text, needle, some, other) => {
      const from = some % (text.length + 1);
      const to = from + (other % (text.length - from + 1));
      const buffer = kernel.reserve(text.length + 64);
      buffer.fill(needle).write(text);
      const rare = [some % needle.length, other % needle.length] as const;
      const found = text.slice(from, to).toLowerCase().indexOf(needle.toLowerCase());
      expect(kernel.find(buffer, fold(needle, rare), from, to)).toBe(found < 0 ? -1 : from + found);
    }),
    { numRuns: 2000 },
  );
});

test("its buffer grows and keeps what is in it", () => {
  const text = "x".repeat(1000);
  kernel.reserve(text.length).write(text);
  const larger = kernel.reserve(5_000_000);
  expect(larger.length).toBe(5_000_000);
  expect(larger.toString("latin1", 0, text.length)).toBe(text);
  larger.write("Needle", larger.length - 6);
  expect(kernel.find(larger, fold("nEEDLE", [0, 3]), 0, larger.length)).toBe(larger.length - 6);
});
