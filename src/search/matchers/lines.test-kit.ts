/** For the tests of searches in texts, with and without the kernel, and against the specification. */
import { expect } from "bun:test";
import { createSearchKernel, type SearchKernel } from "../../text/prefilter/kernel.ts";
import { findLineBounds } from "../../text/prefilter/line-bounds.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import {
  countMatchingLines,
  type LineMatch,
  type LineOptions,
  type LineSearch,
  searchLines,
  slackBytes,
} from "./lines.ts";
import { visitDecoded } from "./matcher.ts";
import { type Query, QueryCompiler, type QueryMatcher } from "./query-compiler.ts";
import { countSpans, searchSpans } from "./spans.ts";
import { cutEnd, rawOffset } from "./utf8.ts";

const engine = createRegexEngine();
const kernel = createSearchKernel() as SearchKernel;
export const compilers = [
  new QueryCompiler(() => engine.runtime, undefined),
  new QueryCompiler(() => engine.runtime, kernel),
];

/** A query, and its options. */
export type LineQuery = Query & LineOptions;

export const plain: LineQuery = { pattern: "", regex: false, ignoreCase: false, maxLineBytes: 4096 };

type TextSearch<M, T> = (text: Buffer, length: number, matcher: M, search: LineSearch) => T;

/** Returns the result of a search in `bytes`. The buffer holds other text after it, like a reused one. */
function run<M extends QueryMatcher, T>(
  act: TextSearch<M, T>,
  bytes: Buffer,
  query: LineQuery,
  limits: Partial<LineSearch> = {},
): T {
  const [here, inKernel] = [Buffer.alloc, kernel.reserve].map((reserve, i) => {
    const matcher = (compilers[i] as QueryCompiler).compile(query) as M;
    const text = reserve(bytes.length + slackBytes(matcher) + 64).fill(`${query.pattern}\nfoo k 1 `);
    bytes.copy(text);
    return act(text, bytes.length, matcher, {
      ...query,
      maxMatches: Number.POSITIVE_INFINITY,
      maxUnits: Number.POSITIVE_INFINITY,
      isOver: () => false,
      lineBounds: i === 0 ? findLineBounds : kernel.lineBounds,
      ...limits,
    });
  });
  expect(inKernel).toEqual(here as T);
  return here as T;
}

export const searchIn = (bytes: Buffer, query: LineQuery, limits?: Partial<LineSearch>): LineMatch[] =>
  run(searchLines, bytes, query, limits);

export const countIn = (bytes: Buffer, query: LineQuery, limits?: Partial<LineSearch>): number =>
  run(countMatchingLines, bytes, query, limits);

/** Searches `bytes` for matches that may span lines. */
export const searchSpansIn = (bytes: Buffer, query: LineQuery, limits?: Partial<LineSearch>): LineMatch[] =>
  run(searchSpans, bytes, { ...query, multiline: true }, limits);

export const countSpansIn = (bytes: Buffer, query: LineQuery, limits?: Partial<LineSearch>): number =>
  run(countSpans, bytes, { ...query, multiline: true }, limits);

/** The offsets of a match in a text. */
export type TextRange = readonly [start: number, end: number];

/** Returns the offsets of matches that were found with `every`. */
export function rangesIn(matches: readonly LineMatch[], text: Buffer): TextRange[] {
  const starts = [0, ...[...text.entries()].filter(([, byte]) => byte === 10).map(([at]) => at + 1)];
  return matches.map(
    ({ line, column, end_line = line, end_column }): TextRange => [
      starts[line - 1]! + column - 1,
      starts[end_line - 1]! + end_column! - 1,
    ],
  );
}

/** Finds matches across lines like the specification: runs the engine on the whole text. */
export function rangesInWhole(bytes: Buffer, query: LineQuery): TextRange[] {
  if (bytes.includes(0)) return [];
  const found: TextRange[] = [];
  const span = { from: 0, to: bytes.length, limit: Number.POSITIVE_INFINITY };
  visitDecoded(engine.runtime.compile(`(?mR)${sourceOf(query)}`), bytes, span, (start, end) => {
    // No line follows the last newline.
    const isAfterLines = start === bytes.length && (start === 0 || bytes[start - 1] === 10);
    if (!isAfterLines) found.push([start, end]);
    return true;
  });
  return found;
}

/** Searches like the specification, word for word: runs the engine on every line. */
export function searchEachLine(bytes: Buffer, query: LineQuery): LineMatch[] {
  if (bytes.includes(0)) return [];
  const { linesBefore = 0, linesAfter = 0, maxLineBytes } = query;
  const compiled = engine.runtime.compile(sourceOf(query));
  const lines = linesOf(bytes).map((line) =>
    line.subarray(0, cutEnd(line, { start: 0, end: line.length, limit: maxLineBytes })),
  );
  const texts = lines.map((line) => line.toString());
  return lines.flatMap((line, index) => {
    const shown = Buffer.from(texts[index]!);
    const at = compiled.find(shown, 0, shown.length);
    if (at < 0) return [];
    const match = { line: index + 1, column: rawOffset(line, at) + 1, text: texts[index]! };
    const before = texts.slice(Math.max(0, index - linesBefore), index);
    const after = texts.slice(index + 1, index + 1 + linesAfter);
    return [{ ...match, ...(linesBefore > 0 && { before }), ...(linesAfter > 0 && { after }) }];
  });
}

function sourceOf({ pattern, regex, ignoreCase }: Query): string {
  const source = regex ? pattern : pattern.replace(/[\\.+*?()|[\]{}^$#&~-]/g, "\\$&");
  return ignoreCase ? `(?i)${source}` : source;
}

function linesOf(bytes: Buffer): Buffer[] {
  const lines: Buffer[] = [];
  for (let start = 0; start < bytes.length; ) {
    const newline = bytes.indexOf(10, start);
    const next = newline < 0 ? bytes.length : newline + 1;
    const end = newline < 0 ? next : newline > start && bytes[newline - 1] === 13 ? newline - 1 : newline;
    lines.push(bytes.subarray(start, end));
    start = next;
  }
  return lines;
}
