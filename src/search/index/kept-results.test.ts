import { expect, test } from "bun:test";
import { pageFrom } from "../pages.test-kit.ts";
import { requestOf } from "../search.test-kit.ts";
import { type FileResult, KeptResults } from "./kept-results.ts";

const resultOf = (text: string): FileResult => ({
  lines: [{ line: 1, column: 1, text }],
  count: 0,
  outcome: 10,
});

/** Returns which of the first 32 files may match by these results. */
function mayMatch(results: ReturnType<KeptResults["of"]>): number {
  const bits = new Int32Array([-1]);
  results.ruleOut(bits);
  return bits[0]! >>> 0;
}

test("results are kept by all of a request that they depend on", () => {
  const kept = new KeptResults(1e6);
  const request = requestOf({ pattern: "a" });
  const results = kept.of(request);
  mayMatch(results);
  results.addWithoutMatch(0);
  results.addMatches(1, resultOf("a"));
  const same = { ...request, path: "d", maxMatches: 1, maxAnswerBytes: 100 };
  expect(kept.of(same)).toBe(results);
  for (const other of [
    requestOf({ pattern: "A" }),
    requestOf({ pattern: "a", ignoreCase: true }),
    requestOf({ pattern: "a", others: ["b"] }),
    requestOf({ pattern: "a", linesAfter: 1 }),
    requestOf({ pattern: "a", mode: "counts" }),
    requestOf({ pattern: "a", maxLineBytes: 10 }),
    { ...request, maxFileBytes: 10 },
    { ...request, page: pageFrom(undefined) },
  ])
    expect([mayMatch(kept.of(other)), kept.of(other).matchesIn(1)]).toEqual([0xffffffff, undefined]);
});

test("a file whose record is replaced has no result", () => {
  const kept = new KeptResults(1e6);
  const results = ["a", "b"].map((pattern) => kept.of(requestOf({ pattern })));
  for (const one of results) {
    mayMatch(one);
    for (const record of [3, 4]) one.addWithoutMatch(record);
    for (const record of [5, 6]) one.addMatches(record, resultOf("a"));
  }
  for (const record of [3, 5, 100]) kept.forget(record);
  for (const one of results) {
    expect(mayMatch(one)).toBe(~(1 << 4) >>> 0);
    expect([one.matchesIn(5), one.matchesIn(6)]).toEqual([undefined, resultOf("a")]);
  }
});

test("the results of the queries that were used least recently are dropped", () => {
  const kept = new KeptResults(5000);
  const of = (pattern: string) => kept.of(requestOf({ pattern }));
  of("a").addMatches(1, resultOf("x".repeat(700)));
  of("b").addMatches(1, resultOf("x".repeat(700)));
  of("a");
  const last = of("c");
  last.addMatches(1, resultOf("x".repeat(700)));
  expect([of("a"), of("b"), of("c")].map((results) => results.matchesIn(1) !== undefined)).toEqual([
    true,
    false,
    true,
  ]);
  // A result that is too large for all of the memory is not kept, but drops the others.
  last.addMatches(2, resultOf("x".repeat(3000)));
  expect([last.matchesIn(1) !== undefined, last.matchesIn(2)]).toEqual([true, undefined]);
  expect(kept.bytes).toBeLessThanOrEqual(5000);
  // Results that were dropped during a search take no memory.
  for (let query = 0; query < 40; query++) of(`query ${query}`);
  last.addMatches(3, resultOf("x"));
  expect([last.matchesIn(3), kept.bytes]).toEqual([undefined, 0]);
});

test("files beyond the memory are searched again", () => {
  const results = new KeptResults(2).of(requestOf({ pattern: "a" }));
  mayMatch(results);
  results.addWithoutMatch(0);
  expect(mayMatch(results)).toBe(0xffffffff);
});
