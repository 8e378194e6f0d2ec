import { expect, test } from "bun:test";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { createRegexEngine } from "../regex/rust-regex.ts";
import { extractByteClasses } from "./byte-classes.ts";
import { createSearchKernel, type SearchKernel } from "./kernel.ts";
import { teddyMasksOf } from "./teddy.ts";

const { runtime } = createRegexEngine();
const kernel = createSearchKernel() as SearchKernel;

/** Renders the seqs as classes, restricted to their ASCII members. */
function render(pattern: string): string[] | undefined {
  const sets = extractByteClasses(runtime.compile(pattern).syntax());
  return sets?.map((seq) =>
    seq
      .map((set) => {
        const characters = [...set.entries()].filter(([byte, isIn]) => isIn === 1 && byte < 0x80);
        const text = String.fromCharCode(...characters.map(([byte]) => byte));
        return text.length === 1 ? text : `[${text.at(0) ?? ""}-${text.at(-1) ?? ""}]`;
      })
      .join(""),
  );
}

test.each<[pattern: string, seqs: string[] | undefined]>([
  ["\\d{4}-\\d{2}-\\d{2}", ["[0-9][0-9][0-9][0-9]-[0-9][0-9]-[0-9][0-9]"]],
  ["\\b[A-Z]{4,}_[A-Z]{4,}\\b", ["[A-Z][A-Z][A-Z][A-Z]_[A-Z][A-Z][A-Z][A-Z]"]],
  ["TODO|FIXME|XXX", ["TODO", "FIXME", "XXX"]],
  ["https?://", ["http://", "https://"]],
  ["(?:ab)+c", ["abc"]],
  ["x(?:ab)?y", ["xy", "xaby"]],
  ["a*", undefined],
  ["a|b*", undefined],
  ["q{40}", ["q".repeat(16)]],
])("the seqs of %s", (pattern, seqs) => {
  expect(render(pattern)).toEqual(seqs);
});

const atom = fc.constantFrom(
  ..."a,b,ab,[ab],[A-Z],_,-,\\d,\\w,\\s,.,\\W,é,[éж],\\x{fffd},(?i:k),\\b,^,$,(?:),ab|_,_|a-|ж,[^a],\\p{Lu}".split(
    ",",
  ),
);
const quantified = (part: fc.Arbitrary<string>, quantifiers: readonly string[]) =>
  fc.tuple(part, fc.constantFrom(...quantifiers)).map(([text, times]) => `(?:${text})${times}`);
const parts = fc.oneof(
  { weight: 20, arbitrary: quantified(atom, ["", "", "", "?", "*", "+", "{2}", "{3,}", "{1,2}"]) },
  { weight: 1, arbitrary: fc.constantFrom("a{17}", "[ab]{20,}", "(?:ab|_){9}") },
);
const sequence = (part: fc.Arbitrary<string>) =>
  fc.array(part, { minLength: 1, maxLength: 4 }).map((all) => all.join(""));
const group = quantified(sequence(parts), ["", "?", "+", "{2}"]);
const pattern = sequence(fc.oneof({ weight: 3, arbitrary: parts }, { weight: 1, arbitrary: group }));
const line = fc
  .array(fc.constantFrom(..."aaabbbAKk__--01 é", "ж", "Ж", "\u212a", "\u0663", "🚀", "\ufffd"), {
    maxLength: 40,
  })
  .map((parts) => parts.join(""));

test("a line that a pattern matches holds one of its seqs", () => {
  fc.assert(
    fc.property(pattern, line, (requested, text) => {
      const regex = runtime.compile(requested);
      const found = extractByteClasses(regex.syntax());
      const bytes = Buffer.from(text);
      if (found === undefined || !regex.isMatch(bytes, 0, bytes.length)) return;
      const masks = teddyMasksOf(found);
      const buffer = kernel.reserve(bytes.length + 64).fill("\n");
      bytes.copy(buffer);
      const hasNonAscii = masks.hasNonAscii && bytes.some((byte) => byte >= 0x80);
      expect(kernel.teddy(buffer, masks, { from: 0, to: bytes.length, hasNonAscii })).toBeGreaterThanOrEqual(
        0,
      );
    }),
    propertyRuns(500),
  );
});
