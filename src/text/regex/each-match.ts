/** Finds every match in a text, one after the other, like `find_iter` of Rust's crate `regex`. */
import type { Instance } from "./instance.ts";

/** Receives the start and the end of a match. Returning false ends the search. */
export type MatchVisitor = (start: number, end: number) => boolean;

/** A compiled pattern, and the part of a text that it searches. The part must hold no NUL byte. */
export interface EachMatchSearch {
  readonly instance: Instance;
  readonly pattern: number;
  readonly text: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Calls `visit` with the first `limit` matches. Offsets count from `from`. */
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
 * Returns the maximum number of matches that calls of the engine find one by one. For more, one call that
 * marks all of them in a copy is faster, but in a large text that takes longer, since the copies are fresh
 * memory.
 */
const maxSinglyIn = (length: number): number => Math.min(64 + length / 16_384, 160);

/** Finds the first matches one by one. Returns their number, or `undefined` if none are left to visit. */
function visitSingly(search: EachMatchSearch, limit: number, visit: MatchVisitor): number | undefined {
  const most = maxSinglyIn(search.to - search.from);
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
  // An empty match at the end of the previous one does not count.
  if (found === undefined || found.end > before.end) return found;
  return before.end === search.to - search.from ? undefined : findFrom(search, before.end + 1);
}

/** Returns the first match that starts at or after `offset`. The engine sees one character before a match. */
function findFrom({ instance, pattern, text, from, to }: EachMatchSearch, offset: number): Match | undefined {
  const part = characterBefore(text, from, from + offset);
  const start = instance.findAt(pattern, instance.pass(text, part, to), to - part, from + offset - part);
  return start < 0 ? undefined : { start: start + part - from, end: instance.matchEnd + part - from };
}

/** Returns the start of the character before `at`, in a part of a text that begins at `from`. */
function characterBefore(text: Buffer, from: number, at: number): number {
  let start = Math.max(from, at - 1);
  while (start > from && (text[start]! & 0xc0) === 0x80) start--;
  return start;
}

const mark = 0;
/** A match between two marks. The template has no groups, which would take a different, slower automaton. */
const marks = Buffer.from("\0$0\0");
/** The mark in place of a match. */
const oneMark = Buffer.from("\0");

/**
 * Visits matches by their marks in a copy. Objects for the matches would take many times as much time and
 * memory.
 */
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

/** Maximum bytes that take less time one by one than a call to `indexOf`. */
const fewBytes = 16;

function nextMark(marked: Buffer, from: number): number {
  const few = Math.min(from + fewBytes, marked.length);
  for (let at = from; at < few; at++) if (marked[at] === mark) return at;
  return few === marked.length ? -1 : marked.indexOf(mark, few);
}

/** Calls `use` with a copy of the text in which the template replaces the first `limit` matches. */
function withReplaced(
  { instance, pattern, text, from, to }: EachMatchSearch,
  { limit, template }: { limit: number; template: Buffer },
  use: (replaced: Buffer) => void,
): void {
  const [start, bytes] = instance.exports.rregex_replacen(
    pattern,
    instance.pass(text, from, to),
    to - from,
    // To the engine, 0 means no limit.
    Math.min(limit, to - from + 1),
    instance.pass(template, 0, template.length),
    template.length,
  );
  use(instance.memory.subarray(start >>> 0, (start >>> 0) + bytes));
  instance.exports.__wbindgen_free(start, bytes, 1);
}
