/** Shows an edited file around its edits: enough to see that an edit is right, in few bytes. */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { commaBytes, JsonBudget } from "../sizes/json-budget.ts";
import { jsonBytes } from "../sizes/json-size.ts";
import { LineNumbers, lineEnd, lineStart, linesAround, splitLines } from "./line-window.ts";
import { countLines } from "./lines.ts";
import type { Region } from "./splices.ts";
import { cutToBytes } from "./text.ts";

/** A place where an op changed the file, in bytes of the file after all ops. */
export interface Site extends Region {
  /** The op, by its place in the caller's list, from 0. */
  readonly index: number;
  /** The number of matches that the op replaced, if it replaces matches. */
  readonly replacements?: number | undefined;
}

/** Some lines of a file after its edit (coder §17). */
export interface Echo {
  readonly op_index: number;
  /** The number of the first line, from 1, or 0 if no line can be shown. */
  readonly from_line: number;
  readonly lines: readonly string[];
  /** The number of lines left out in the middle. */
  readonly elided?: number;
  readonly total_replacements?: number;
}

export interface Echoes {
  readonly echoes: readonly Echo[];
  /** Whether anything did not fit and is left out: echoes, or the rest of a line. */
  readonly isTruncated: boolean;
}

/** Lines shown before and after those that an op touched. */
const contextLines = 2;

/** Maximum lines of an echo. A longer one shows only its first and last lines. */
const maxLines = 20;
const endLines = 8;

/** Maximum matches shown per op. */
export const maxSites = 5;

/** Maximum size of one file's echoes as JSON, in bytes. */
export const maxEchoBytes = 4096;

/** Maximum bytes shown of a line. */
const maxLineBytes = 512;

/**
 * Returns the echoes of one file, by op and then by place. Places of one op whose lines meet are one echo.
 */
export function* echoesOf(body: Buffer, sites: readonly Site[]): Steps<Echoes> {
  const ordered = sites.toSorted((a, b) => a.index - b.index || a.from - b.from);
  const numbers = new LineNumbers(body);
  const echoes: Echo[] = [];
  const budget = new JsonBudget(maxEchoBytes, jsonBytes(echoes));
  let isTruncated = false;
  for (const window of windowsOf(body, ordered)) {
    yield;
    if (window === undefined) continue;
    const { echo, isCut } = echoOf(body, window, numbers);
    const fits = budget.admit(jsonBytes(echo) + commaBytes(echoes.length));
    isTruncated ||= isCut || !fits;
    if (!fits) break;
    echoes.push(echo);
  }
  return { echoes, isTruncated };
}

/** The lines of an echo. */
interface EchoWindow extends Site {
  /** The first byte that the op changed in them. */
  readonly changed: number;
}

/** Yields the windows, and `undefined` after each other site, since a line may be as long as the file. */
function* windowsOf(body: Buffer, sites: readonly Site[]): Generator<EchoWindow | undefined> {
  let window: EchoWindow | undefined;
  for (const site of sites) {
    const lines = {
      ...site,
      changed: site.from,
      ...(site.replacements === 0 ? nowhere : linesAround(body, site, contextLines)),
    };
    if (window?.index === site.index && lines.from <= window.to) {
      window = { ...window, to: Math.max(window.to, lines.to) };
      yield undefined;
      continue;
    }
    yield window;
    window = lines;
  }
  if (window !== undefined) yield window;
}

const nowhere: Region = { from: 0, to: 0 };

function echoOf(body: Buffer, window: EchoWindow, numbers: LineNumbers): { echo: Echo; isCut: boolean } {
  const { lines, elided } = shownLines(body.subarray(window.from, window.to));
  const cut = lines.map((line) =>
    line.length > maxLineBytes
      ? cutAround(line, window.changed - (line.byteOffset - body.byteOffset))
      : line.toString(),
  );
  const echo = {
    op_index: window.index,
    from_line: lines.length === 0 ? 0 : numbers.of(window.from),
    lines: cut,
    ...(elided > 0 && { elided }),
    ...(window.replacements !== undefined && { total_replacements: window.replacements }),
  };
  return { echo, isCut: lines.some((line) => line.length > maxLineBytes) };
}

/** Bytes shown of a long line before the place in it. */
const bytesBefore = 128;

/** Returns the part of a long line around the byte `at`, or its beginning if that is not in it. */
function cutAround(line: Buffer, at: number): string {
  let from = at < maxLineBytes - bytesBefore || at > line.length ? 0 : at - bytesBefore;
  // A character is not cut.
  while (from > 0 && (line[from]! & 0xc0) === 0x80) from++;
  const shown = cutToBytes(line.subarray(from), maxLineBytes);
  const isToEnd = from + Buffer.byteLength(shown) >= line.length;
  return `${from > 0 ? "…" : ""}${shown}${isToEnd ? "" : "…"}`;
}

/**
 * Returns the first and last lines of `text`, which begins with a line, or all if they are few, and the
 * number left out.
 */
function shownLines(text: Buffer): { lines: Buffer[]; elided: number } {
  const count = countLines(text);
  if (count <= maxLines) return { lines: splitLines(text), elided: 0 };
  let [head, tail] = [0, text.length];
  for (let line = 0; line < endLines; line++) {
    head = lineEnd(text, head);
    tail = lineStart(text, tail - 1);
  }
  const lines = [...splitLines(text.subarray(0, head)), ...splitLines(text.subarray(tail))];
  return { lines, elided: count - lines.length };
}
