import { expect, test } from "bun:test";
import fc from "fast-check";
import { composeSplices, regionAfter, type Splice } from "./splices.ts";

/** A splice and its new text. */
interface Put extends Splice {
  readonly text: string;
}

/** Generates splices of a text of `length` characters, in order and apart. */
const splicesOf = (length: number, character: string): fc.Arbitrary<Put[]> =>
  fc.array(fc.tuple(fc.nat(length), fc.nat(3)), { maxLength: 6 }).map((cuts) => {
    const borders = cuts.map(([at]) => at).sort((a, b) => a - b);
    const puts: Put[] = [];
    for (let i = 0; i + 1 < borders.length; i += 2) {
      const [from, to] = [borders[i]!, borders[i + 1]!];
      const text = character.repeat(cuts[i]![1]);
      puts.push({ from, to, length: text.length, text });
    }
    return puts;
  });

function apply(text: string, puts: readonly Put[]): string {
  return puts
    .toReversed()
    .reduce((body, { from, to, text: put }) => body.slice(0, from) + put + body.slice(to), text);
}

const edits = fc.nat(20).chain((length) =>
  splicesOf(length, "x").chain((first) => {
    const text = "abcdefghijklmnopqrst".slice(0, length);
    const middle = apply(text, first);
    return splicesOf(middle.length, "y").map((second) => ({ text, first, middle, second }));
  }),
);

test("two edits as one leave alone only what both leave alone, and lead to the same text", () => {
  fc.assert(
    fc.property(edits, ({ text, first, middle, second }) => {
      const after = apply(middle, second);
      const composed = composeSplices(first, second);
      let [from, at] = [0, 0];
      let rebuilt = "";
      for (const splice of composed) {
        const kept = text.slice(from, splice.from);
        rebuilt += kept + after.slice(at + kept.length, at + kept.length + splice.length);
        at += kept.length + splice.length;
        from = splice.to;
      }
      expect(rebuilt + text.slice(from)).toBe(after);
      for (const [i, splice] of composed.entries())
        if (i > 0) expect(splice.from).toBeGreaterThan(composed[i - 1]!.to);
    }),
    { numRuns: 3000 },
  );
});

test("a region is followed to where its text went", () => {
  const regions = edits.chain((edit) =>
    fc.tuple(fc.nat(edit.text.length), fc.nat(edit.text.length)).map(([a, b]) => ({
      ...edit,
      region: { from: Math.min(a, b), to: Math.max(a, b) },
    })),
  );
  fc.assert(
    fc.property(regions, ({ text, first, middle, region }) => {
      const { from, to } = regionAfter(region, first);
      expect(from).toBeLessThanOrEqual(to);
      const inside = text.slice(region.from, region.to);
      const kept = [...inside].filter((character) => middle.includes(character));
      expect([...middle.slice(from, to)].filter((character) => character !== "x")).toEqual(kept);
    }),
    { numRuns: 3000 },
  );
});
