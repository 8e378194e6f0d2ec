import { expect, test } from "bun:test";
import fc from "fast-check";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { EditTrace, spliceBetween } from "./edit-trace.ts";
import { insert, update } from "./edits.test-kit.ts";
import { applyLineOps } from "./line-ops.ts";

const textOf = (body: string, { from, to }: { from: number; to: number }) => body.slice(from, to);

test("the places of ops are followed through those behind them", () => {
  const trace = new EditTrace(
    runAtOnce(applyLineOps(Buffer.from("a\nb\nc\n"), [update(3, 3, "see"), insert(1, "x")])),
  );
  // The text is now "x a b see". The splices remove "a\n" and replace each "e" by "EE".
  trace.add({ index: 2, splices: [{ from: 2, to: 4, length: 0 }], replacements: 1 });
  trace.add({
    index: 3,
    splices: [
      { from: 5, to: 6, length: 2 },
      { from: 6, to: 7, length: 2 },
    ],
    replacements: 2,
  });
  const after = "x\nb\nsEEEE\n";
  const places = trace.sites.map((site) => [site.index, textOf(after, site)]);
  expect(places).toEqual([
    [1, "x\n"],
    [0, "sEEEE\n"],
    [2, ""],
    [3, "EE"],
    [3, "EE"],
  ]);
  expect(trace.splices).toEqual([
    { from: 0, to: 2, length: 2 },
    { from: 4, to: 6, length: 6 },
  ]);
});

test("an op that replaced nothing is followed too", () => {
  const trace = new EditTrace({ splices: [], regions: [] });
  trace.add({ index: 4, splices: [], replacements: 0 });
  expect(trace.sites).toEqual([{ index: 4, from: 0, to: 0, replacements: 0 }]);
});

test("of very many places those of the first ops are followed", () => {
  const regions = Array.from({ length: 500 }, (_, n) => ({ index: 499 - n, from: n, to: n + 1 }));
  const indexes = new EditTrace({ splices: [], regions }).sites.map(({ index }) => index);
  expect(indexes.length).toBe(200);
  expect(Math.max(...indexes)).toBe(199);
});

test("what two texts begin and end with alike is no part of the splice between them", () => {
  const bytes = fc.array(fc.constantFrom(0x61, 0x62), { maxLength: 12 }).map((list) => Buffer.from(list));
  fc.assert(
    fc.property(bytes, bytes, (before, after) => {
      const [splice, ...others] = spliceBetween(before, after);
      expect(others).toEqual([]);
      expect(splice === undefined).toBe(before.equals(after));
      if (splice === undefined) return;
      const { from, to, length } = splice;
      const rebuilt = [before.subarray(0, from), after.subarray(from, from + length), before.subarray(to)];
      expect(Buffer.concat(rebuilt).equals(after)).toBe(true);
    }),
  );
});
