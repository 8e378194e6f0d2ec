import { expect, test } from "bun:test";
import { LazyDfa } from "./lazy-dfa.ts";
import { buildNfa } from "./nfa.ts";
import type { StateSet } from "./nfa-simulator.ts";
import { parseGlob } from "./parse.ts";

const letters = [..."abcdefghijklmnopqrstuvwxyz"];
/** Globs that lead to a new combination of states with nearly each character: those of the last 16 matter. */
const globs = [...letters, `*a${"?".repeat(16)}`].map((glob) => `**/${glob}`);
let state = 1;
/** Returns a pseudorandom text of two letters. */
const textOf = (length: number): string =>
  Array.from({ length }, () => {
    state = (state * 48_271) % 0x7fffffff;
    return letters[(state >>> 8) % 2];
  }).join("");
const folder = Array.from({ length: 40 }, () => textOf(15)).join("/");
const nameOf = (text: string) => ({ bytes: Buffer.from(text), from: 0, to: Buffer.byteLength(text) });

/** Creates an automaton that counts the combinations that are new to its table. */
function counting() {
  const counts = { rows: 0 };
  const dfa = new LazyDfa(buildNfa([globs.map((glob) => parseGlob(glob))]), {
    characters: "bytes",
    outputOf: (combination: StateSet) => {
      counts.rows++;
      return combination[0]! & 1;
    },
  });
  return { dfa, counts };
}

test("a deep folder is followed one level per step", () => {
  const { dfa, counts } = counting();
  const trail = dfa.trailFrom(0);
  let last = counts.rows;
  let steps = 0;
  for (const _ of dfa.follow(trail, folder)) {
    expect(counts.rows - last).toBeLessThanOrEqual(32);
    last = counts.rows;
    steps++;
  }
  expect(steps).toBe(39);
  expect(counts.rows).toBeGreaterThan(100);
  last = counts.rows;
  dfa.outputForBytesIn(trail, folder, nameOf("abc"));
  expect(counts.rows - last).toBeLessThanOrEqual(3);
});

test("a table that was cleared has the rows of open folders again, without following their paths", () => {
  const { dfa, counts } = counting();
  const [trail, other] = [dfa.trailFrom(0), dfa.trailFrom(folder.length + 1)];
  for (const _ of dfa.follow(trail, folder));
  // Trails of two places do not end each other.
  const inner = `${folder}/inner`;
  for (let name = 0; name < 300; name++) {
    const text = textOf(30);
    const before = counts.rows;
    const outputs = [
      dfa.outputForBytesIn(trail, inner, nameOf(text)),
      dfa.outputForBytesIn(other, inner, nameOf(text)),
    ];
    expect(counts.rows - before).toBeLessThanOrEqual(2 * (30 + 6 + 3));
    expect(outputs).toEqual([dfa.matches(`${inner}/${text}`), dfa.matches(`inner/${text}`)].map(Number));
  }
  // The table has place for some 2,100.
  expect(counts.rows).toBeGreaterThan(6000);
});
