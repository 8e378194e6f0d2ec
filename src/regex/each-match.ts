/** Every match in a text, one after the other, as `find_iter` of Rust's crate `regex` finds them. */
import type { Instance } from "./instance.ts";

/** Gets the start and the end of a match; false ends the search. */
export type MatchVisitor = (start: number, end: number) => boolean;

/** A compiled pattern, and the part of a text that it searches. The part holds no NUL byte. */
export interface EachMatchSearch {
  readonly instance: Instance;
  readonly pattern: number;
  readonly text: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Calls `visit` with the first `limit` matches; offsets count from `from`. */
export function visitEachMatch(search: EachMatchSearch, limit: number, visit: MatchVisitor): void {
  const visited = visitSingly(search, limit, visit);
  if (visited !== undefined) visitMarked(search, { limit, visited }, visit);
}

export function countEachMatch(search: EachMatchSearch): number {
  let count = 0;
  const visited = visitSingly(search, Number.POSITIVE_INFINITY, () => {
    count++;
    return true;
  });
  return visited === undefined ? count : countMarked(search);
}

/**
 * Most matches that calls of the engine find one by one; one call that marks all of them in a copy is faster for more. In
 * a large text that takes long: the copies are fresh memory.
 */
const mostSinglyIn = (length: number): number => Math.min(64 + length / 16_384, 160);

/** Finds the first matches one by one. Returns how many; undefined when there are no others to visit. */
function visitSingly(search: EachMatchSearch, limit: number, visit: MatchVisitor): number | undefined {
  const most = mostSinglyIn(search.to - search.from);
  let match: Match | undefined;
  for (let count = 0; count < limit; count++) {
    if (count > most) return count;
    match = matchAfter(search, match);
    if (match === undefined || !visit(match.start, match.end)) return undefined;
  }
  return undefined;
}

interface Match {
  readonly start: number;
  readonly end: number;
}

function matchAfter(search: EachMatchSearch, before: Match | undefined): Match | undefined {
  if (before === undefined) return findFrom(search, 0);
  const found = findFrom(search, before.end);
  // An empty match at the end of the one before does not count.
  if (found === undefined || found.end > before.end) return found;
  return before.end === search.to - search.from ? undefined : findFrom(search, before.end + 1);
}

/** The first match that starts at `offset` or after it. The engine looks at one character before a match. */
function findFrom({ instance, pattern, text, from, to }: EachMatchSearch, offset: number): Match | undefined {
  const part = characterBefore(text, from, from + offset);
  const start = instance.findAt(pattern, instance.pass(text, part, to), to - part, from + offset - part);
  return start < 0 ? undefined : { start: start + part - from, end: instance.matchEnd + part - from };
}

/** Start of the character before `at` in a part of a text from `from` on. */
function characterBefore(text: Buffer, from: number, at: number): number {
  let start = Math.max(from, at - 1);
  while (start > from && (text[start]! & 0xc0) === 0x80) start--;
  return start;
}

const mark = 0;
/** A match between two marks. The template has no groups, which would take another, slower automaton. */
const marks = Buffer.from("\0$0\0");
/** In place of a match. */
const oneMark = Buffer.from("\0");

/** Objects for the matches would take many times as much time and memory. */
function visitMarked(
  search: EachMatchSearch,
  { limit, visited }: { limit: number; visited: number },
  visit: MatchVisitor,
): void {
  withReplaced(search, { limit, template: marks }, (marked) => {
    let start = nextMark(marked, 0);
    for (let index = 0; start >= 0; index++) {
      const end = nextMark(marked, start + 1);
      if (index >= visited && !visit(start - 2 * index, end - 2 * index - 1)) return;
      start = nextMark(marked, end + 1);
    }
  });
}

function countMarked(search: EachMatchSearch): number {
  let count = 0;
  withReplaced(search, { limit: Number.POSITIVE_INFINITY, template: oneMark }, (marked) => {
    for (let at = nextMark(marked, 0); at >= 0; at = nextMark(marked, at + 1)) count++;
  });
  return count;
}

/** Bytes that take less time one by one than a call of `indexOf` does. */
const fewBytes = 16;

function nextMark(marked: Buffer, from: number): number {
  const few = Math.min(from + fewBytes, marked.length);
  for (let at = from; at < few; at++) if (marked[at] === mark) return at;
  return few === marked.length ? -1 : marked.indexOf(mark, few);
}

/** Calls `use` with the text where the template replaces the first `limit` matches. */
function withReplaced(
  { instance, pattern, text, from, to }: EachMatchSearch,
  { limit, template }: { limit: number; template: Buffer },
  use: (replaced: Buffer) => void,
): void {
  const [start, bytes] = instance.exports.rregex_replacen(
    pattern,
    instance.pass(text, from, to),
    to - from,
    // To the engine, 0 is no limit.
    Math.min(limit, to - from + 1),
    instance.pass(template, 0, template.length),
    template.length,
  );
  use(instance.memory.subarray(start >>> 0, (start >>> 0) + bytes));
  instance.exports.__wbindgen_free(start, bytes, 1);
}
