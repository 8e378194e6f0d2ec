/** Selects parts of a job's output: by position, by lines at its end, or by lines that match. */
import { type Static, Type } from "@sinclair/typebox";
import type { Deadline } from "../base/scheduling/deadline.ts";
import { Named, UInt64 } from "../base/schema/fragments.ts";
import { type LinePattern, outputSlice as slice } from "./line-patterns.ts";
import type { LiveOutput } from "./programs/output.ts";
import type { OutputLog } from "./programs/output-log.ts";

/** A part of the output of a job, as on the wire. Its lines are numbered from 1. */
export const JobOutput = Named("JobOutput", {
  text: Type.String({ description: "Both outputs, in the order in which their lines ended." }),
  from: UInt64({ description: "The number of the first line shown." }),
  next: UInt64({ description: "The number of the line after the last: `since` of the next call." }),
  start: UInt64({ description: "The number of the first line that is still kept." }),
  end: UInt64({ description: "The number that the next line gets." }),
  matches: Type.Optional(
    UInt64({ description: "With `grep`: the lines that match, up to `next` or unfinished." }),
  ),
  matches_before: Type.Optional(
    UInt64({ description: "With `grep` and `tail_lines`: those before the first shown one, if any." }),
  ),
  from_byte: Type.Optional(
    UInt64({
      description: "The bytes of the first line before the text, if it does not show its beginning.",
    }),
  ),
  to_byte: Type.Optional(
    UInt64({ description: "The bytes of the last line up to its cut: `since_byte` of a call for the rest." }),
  ),
  found: Type.Optional(Type.String({ description: "The line that `wait_for` found." })),
  found_line: Type.Optional(UInt64({ description: "Its number." })),
});

export type JobOutput = Static<typeof JobOutput>;

/** Default bytes of output in an answer. */
export const defaultOutputBytes = 16 * 1024;

/** Returns a `LiveOutput` that adds output to the log, and then passes it on. */
export const logging =
  (log: OutputLog, live: LiveOutput | undefined): LiveOutput =>
  (piece, from) => {
    log.add(piece, from);
    return live?.(piece, from);
  };

/** The requested part of the output. */
export interface OutputSelection {
  /** The number of the first line. */
  readonly since?: number | undefined;
  /** The bytes of that line to leave out. */
  readonly sinceByte?: number | undefined;
  readonly tailLines?: number | undefined;
  /** Maximum bytes of the text. */
  readonly maxBytes: number;
}

/**
 * Returns the last lines of the output so far, or those from one line on; unfinished lines come last, if
 * everything before them is shown. A line that is too long by itself is cut: the last one at its beginning,
 * because an error or a prompt stands at its end.
 */
export function selectOutput(log: OutputLog, selection: OutputSelection): JobOutput {
  const { since, tailLines, maxBytes } = selection;
  const part =
    since !== undefined && tailLines === undefined
      ? partFrom(log, { ...selection, since })
      : lastPart(log, selection);
  const unfinished = part.to === log.end ? log.unfinished() : Buffer.alloc(0);
  const numbers = numbersOf(log, part.from, part.to);
  return { text: part.text + end(unfinished, maxBytes), ...numbers, ...part.cut };
}

/** Whole lines between two positions, and the bytes of one that are left out if it is too long by itself. */
interface Part {
  readonly text: string;
  readonly from: number;
  readonly to: number;
  readonly cut?: Pick<JobOutput, "from_byte" | "to_byte">;
}

/** Returns a page that begins with a line, or within it. */
function partFrom(
  log: OutputLog,
  { since, sinceByte = 0, maxBytes }: OutputSelection & { readonly since: number },
): Part {
  const first = log.positionOf(since);
  const skipped = log.lineAt(first) === since ? sinceByte : 0;
  const lineEnd = skipped === 0 ? first : endOfLine(log, first);
  const from = Math.min(first + skipped, lineEnd);
  const to = endOfPage(log, from, maxBytes);
  const bytes = log.read(from, to);
  const from_byte = from === lineEnd ? 0 : skipped;
  const before = from_byte > 0 && { from_byte };
  if (isWhole(bytes, maxBytes)) return { text: decode(bytes), from, to, cut: { ...before } };
  const shown = bytes.subarray(0, characterFrom(bytes, maxBytes, -1) || maxBytes);
  const cut = { ...before, to_byte: from_byte + shown.length };
  return { text: `${decode(shown)}…\n`, from, to, cut };
}

function lastPart(log: OutputLog, { since, tailLines, maxBytes }: OutputSelection): Part {
  const first = since === undefined ? log.start : log.positionOf(since);
  const from = tailOf(log, { first, tailLines, maxBytes });
  const bytes = log.read(from, log.end);
  if (isWhole(bytes, maxBytes)) return { text: decode(bytes), from, to: log.end };
  const from_byte = characterFrom(bytes, bytes.length - 1 - maxBytes, 1);
  return { text: `…${decode(bytes.subarray(from_byte))}`, from, to: log.end, cut: { from_byte } };
}

/** Returns whether whole lines fit. Only a line by itself may have more bytes before its end. */
const isWhole = (lines: Buffer, maxBytes: number): boolean => lines.length <= maxBytes + 1;

/** Returns the position where a character in UTF-8 begins, from `at` on or back. */
function characterFrom(bytes: Buffer, at: number, step: 1 | -1): number {
  let start = at;
  while (Math.abs(start - at) < 3 && (bytes[start]! & 0xc0) === 0x80) start += step;
  return start;
}

/** Like `selectOutput`, which may take milliseconds, but in a later turn if others have used up this one. */
export async function selectInTurn(log: OutputLog, selection: OutputSelection): Promise<JobOutput> {
  if (slice.isDue) await slice.yieldIfDue();
  return selectOutput(log, selection);
}

const numbersOf = (log: OutputLog, from: number, to: number) => ({
  from: log.lineAt(from),
  next: log.lineAt(to),
  start: log.lineAt(log.start),
  end: log.lineAt(log.end),
});

/** Returns the newest part of an unfinished line, such as the current state of a progress bar. */
function end(line: Buffer, maxBytes: number): string {
  const text = line.subarray(line.lastIndexOf(carriageReturn, -2) + 1);
  return text.length <= maxBytes ? decode(text) : `…${decode(text.subarray(-maxBytes))}`;
}

/** Returns the position of the last lines that fit, at least one. */
function tailOf(
  log: OutputLog,
  { first, tailLines, maxBytes }: { first: number; tailLines: number | undefined; maxBytes: number },
): number {
  const unfinished = log.unfinished().length > 0 ? 1 : 0;
  const most = tailLines === undefined ? Number.POSITIVE_INFINITY : tailLines - unfinished;
  const earliest = Math.max(first, log.end - Math.max(maxBytes, maxLineLength));
  const bytes = log.read(earliest, log.end);
  let at = bytes.length;
  for (let lines = 0; lines < most && at > 0; lines++) {
    const before = lineStart(bytes, at);
    // A line that begins before these bytes is not shown in part.
    if (before === 0 && earliest > first) break;
    if (bytes.length - before > maxBytes && lines + unfinished > 0) break;
    at = before;
  }
  return earliest + at;
}

/** Returns the start of the line that ends at `end`. In short lines `lastIndexOf` would take longer. */
function lineStart(bytes: Buffer, end: number): number {
  let at = end - 1;
  while (at > 0 && bytes[at - 1] !== newline) at--;
  return at;
}

/** Maximum bytes of a line in a log. */
const maxLineLength = 128 * 1024 + 1;

/** Returns the end of a page of whole lines, at least one. */
function endOfPage(log: OutputLog, from: number, maxBytes: number): number {
  const bytes = log.read(from, Math.min(log.end, from + Math.max(maxBytes, maxLineLength)));
  if (bytes.length <= maxBytes && from + bytes.length === log.end) return log.end;
  const whole = bytes.lastIndexOf(newline, maxBytes - 1) + 1;
  return from + (whole || bytes.indexOf(newline) + 1);
}

/** Returns the position after the line that begins at a position, which is that position after the last. */
const endOfLine = (log: OutputLog, from: number): number =>
  from + log.read(from, Math.min(log.end, from + maxLineLength)).indexOf(newline) + 1;

interface OutputLine {
  /** The number of the line, from 1. */
  readonly number: number;
  /** The position of the next line. */
  readonly end: number;
  /** The bytes of the line, without its end: LF, or CRLF as terminals and protocols write it. */
  readonly bytes: Buffer;
}

const chunkBytes = 256 * 1024;

/** Yields the lines between two positions, without those that are dropped in between. */
export function* linesOf(
  log: OutputLog,
  from: number,
  to = Number.POSITIVE_INFINITY,
): Generator<OutputLine, void> {
  let number = log.lineAt(from);
  for (let position = from; position < Math.min(to, log.end); ) {
    if (position < log.start) {
      position = log.start;
      number = log.lineAt(position);
    }
    const chunk = log.read(position, Math.min(to, log.end, position + chunkBytes));
    let done = 0;
    for (let end = chunk.indexOf(newline); end >= 0; end = chunk.indexOf(newline, done)) {
      yield { number, bytes: withoutReturn(chunk.subarray(done, end)), end: position + end + 1 };
      number++;
      done = end + 1;
    }
    if (done === 0) return;
    position += done;
  }
}

const withoutReturn = (line: Buffer): Buffer =>
  line.at(-1) === carriageReturn ? line.subarray(0, -1) : line;

/** Returns the lines that have not ended, one of each output. They get their numbers when they end. */
function unfinishedLines(log: OutputLog): OutputLine[] {
  const unfinished = log.unfinished();
  if (unfinished.length === 0) return [];
  const first = log.lineAt(log.end);
  return unfinished
    .toString("latin1")
    .split("\n")
    .map((line, index) => {
      const bytes = withoutReturn(Buffer.from(line, "latin1"));
      return { number: first + index, bytes, end: log.end };
    });
}

/** The number of lines shown before and after each match. */
const contextLines = 2;

/** Maximum bytes shown of a matching line. */
const shownBytes = 512;

export interface GrepOptions extends OutputSelection {
  readonly pattern: LinePattern;
  readonly deadline: Deadline;
}

/**
 * Returns the lines that match from `since` on, with two before and after each, as a search shows them:
 * `number→line` and `number-line`. It ends when the text is full; with `tailLines` it has the last lines that
 * match, if they fit. An unfinished line is searched too, and shown again by the next call.
 */
export async function grepOutput(log: OutputLog, options: GrepOptions): Promise<JobOutput> {
  const { since = 1, tailLines, maxBytes, pattern, deadline } = options;
  if (slice.isDue) await slice.yieldIfDue();
  const from = log.positionOf(since);
  const isTail = tailLines !== undefined;
  const found = new FoundLines(isTail ? { matches: tailLines, bytes: maxBytes } : undefined);
  let next = from;
  for (const line of linesOf(log, from)) {
    if (!isTail && found.bytes > maxBytes) break;
    found.add(line, pattern.find(line.bytes));
    next = line.end;
    if (!slice.isDue) continue;
    await slice.yieldIfDue();
    deadline.check();
  }
  if (next === log.end && (isTail || found.bytes <= maxBytes))
    for (const line of unfinishedLines(log)) {
      found.add(line, pattern.find(line.bytes));
      await slice.yieldIfDue();
    }
  const { text, matches, matchesBefore } = found;
  return {
    text,
    matches,
    ...(matchesBefore > 0 && { matches_before: matchesBefore }),
    ...numbersOf(log, Math.max(from, log.start), next),
  };
}

/** Maxima of what is shown. */
interface Most {
  readonly matches: number;
  readonly bytes: number;
}

/** A matching line with those around it, as an answer shows them. */
interface Group {
  /** Whether lines are left out before it. */
  readonly hasGap: boolean;
  before: readonly string[];
  readonly match: string;
  readonly after: string[];
}

/** The matching lines and those around them, as an answer shows them. */
class FoundLines {
  matches = 0;
  bytes = 0;
  readonly #most: Most | undefined;
  readonly #groups: Group[] = [];
  /** The index of the first group that is kept. Removing each from the array would move all others. */
  #first = 0;
  #before: string[] = [];
  #hasGap = false;

  /** Keeps the last groups, at most `most`, but at least one. */
  constructor(most: Most | undefined) {
    this.#most = most;
  }

  get text(): string {
    const lines = this.#groups.slice(this.#first).flatMap(({ hasGap, before, match, after }, index) => {
      const separator = hasGap && index > 0 ? ["--"] : [];
      return [...separator, ...before, match, ...after];
    });
    return lines.map((line) => `${line}\n`).join("");
  }

  /** The number of matching lines before the first that is kept. */
  get matchesBefore(): number {
    return this.matches - (this.#groups.length - this.#first);
  }

  add({ number, bytes }: OutputLine, at: number): void {
    if (at >= 0) {
      this.matches++;
      const match = `${number}→${excerpt(bytes, at)}`;
      const group = { hasGap: this.#hasGap, before: this.#before, match, after: [] };
      this.#groups.push(group);
      this.bytes += sizeOf(group);
      this.#before = [];
      this.#hasGap = false;
    } else {
      const line = `${number}-${excerpt(bytes, 0)}`;
      const last = this.#groups.at(-1);
      if (last === undefined || last.after.length === contextLines) this.#addBefore(line);
      else {
        last.after.push(line);
        this.bytes += sizeOfLine(line);
      }
    }
    this.#dropFirst();
  }

  /** Keeps a line that is shown if one of the next matches. */
  #addBefore(line: string): void {
    this.#before.push(line);
    if (this.#before.length <= contextLines) return;
    this.#before.shift();
    this.#hasGap = true;
  }

  #dropFirst(): void {
    const most = this.#most;
    if (most === undefined) return;
    while (this.#groups.length - this.#first > 1) {
      if (this.#groups.length - this.#first <= most.matches && this.bytes <= most.bytes) break;
      const [dropped, kept] = [this.#groups[this.#first]!, this.#groups[this.#first + 1]!];
      this.bytes -= sizeOf(dropped) + sizeOf(kept);
      if (!kept.hasGap) kept.before = [...dropped.after, ...kept.before].slice(-contextLines);
      this.bytes += sizeOf(kept);
      this.#first++;
    }
    if (2 * this.#first <= this.#groups.length) return;
    this.#groups.splice(0, this.#first);
    this.#first = 0;
  }
}

const sizeOfLine = (line: string): number => Buffer.byteLength(line) + 1;

const sizeOf = ({ hasGap, before, match, after }: Group): number =>
  [...(hasGap ? ["--"] : []), ...before, match, ...after].reduce((sum, line) => sum + sizeOfLine(line), 0);

/** Returns the shown part of a line, around the byte `at`. */
function excerpt(line: Buffer, at: number): string {
  if (line.length <= shownBytes) return decode(line);
  const from = Math.max(0, Math.min(at - shownBytes / 2, line.length - shownBytes));
  const to = Math.min(line.length, from + shownBytes);
  return `${from > 0 ? "…" : ""}${decode(line.subarray(from, to))}${to < line.length ? "…" : ""}`;
}

const newline = 0x0a;
const carriageReturn = 0x0d;

const decode = (bytes: Uint8Array): string => new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes);

export interface WaitOptions {
  /** The position of the first line that may match. */
  readonly from: number;
  readonly pattern: LinePattern | undefined;
  readonly milliseconds: number;
  readonly deadline: Deadline;
  /** Resolves when the job has ended. */
  readonly settled: Promise<void>;
}

/** Waits for a line that matches, or for the end of the job. Returns the line, if any. */
export async function waitForOutput(
  log: OutputLog,
  options: WaitOptions,
): Promise<Required<Pick<JobOutput, "found" | "found_line">> | undefined> {
  const { pattern, milliseconds, deadline, settled } = options;
  deadline.check();
  let timer: NodeJS.Timeout | undefined;
  let isOver = false;
  const over = Promise.race([
    settled,
    new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
      deadline.signal.addEventListener("abort", () => resolve(), { once: true });
    }),
  ]).then(() => {
    isOver = true;
  });
  const reader = pattern && new LineReader(log, options.from, pattern);
  try {
    for (;;) {
      // Called before the existing output is read, so that no line is missed in between.
      const changed = log.changed();
      const found = await reader?.read(deadline);
      if (found !== undefined) return found;
      if (isOver) return undefined;
      await (reader === undefined ? over : Promise.race([over, changed]));
      deadline.check();
    }
  } finally {
    clearTimeout(timer);
  }
}

/** Reads each line once, as they come. */
class LineReader {
  readonly #log: OutputLog;
  readonly #pattern: LinePattern;
  #position: number;

  constructor(log: OutputLog, from: number, pattern: LinePattern) {
    this.#log = log;
    this.#position = from;
    this.#pattern = pattern;
  }

  /** Returns the first line that matches, even an unfinished one. */
  async read(deadline: Deadline): Promise<{ found: string; found_line: number } | undefined> {
    if (slice.isDue) await slice.yieldIfDue();
    for (const { number, bytes, end } of linesOf(this.#log, this.#position)) {
      this.#position = end;
      const at = this.#pattern.find(bytes);
      if (at >= 0) return { found: excerpt(bytes, at), found_line: number };
      if (!slice.isDue) continue;
      await slice.yieldIfDue();
      deadline.check();
    }
    for (const { number, bytes } of unfinishedLines(this.#log)) {
      const at = this.#pattern.find(bytes);
      if (at >= 0) return { found: excerpt(bytes, at), found_line: number };
      await slice.yieldIfDue();
    }
    return undefined;
  }
}
