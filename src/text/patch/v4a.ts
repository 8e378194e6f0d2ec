/**
 * Parses patches in the V4A format: `*** Begin Patch`, sections that name a file each, and `*** End Patch`.
 * Hunks have no line numbers; `@@` lines name earlier lines of the file.
 */
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { headerTextOf } from "./header-text.ts";
import { type HunkHeader, parseHunkHeader } from "./hunk-header.ts";
import type { LineTable } from "./line-table.ts";
import type { FilePatch, Hunk, PatchPath } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";

const begin = "*** Begin Patch";
const end = "*** End Patch";
const endOfFile = "*** End of File";
const moveTo = "*** Move to:";
const environment = "*** Environment ID:";
const headers = { add: "*** Add File:", delete: "*** Delete File:", update: "*** Update File:" } as const;

const linesPerStep = 4096;

/**
 * Returns whether the line occurs only in patches of this format: one that names a file, or the first of a
 * patch whose next line names one after blanks.
 */
export function isV4aHeader(lines: LineTable, line: number): boolean {
  if (headerAt(lines, line) !== undefined) return true;
  if (!isPadded(lines, line, begin)) return false;
  const next = lines.startsPadded(line + 1, environment) ? line + 2 : line + 1;
  return paddedHeaderAt(lines, next) !== undefined;
}

function headerAt(lines: LineTable, line: number): keyof typeof headers | undefined {
  if (!lines.startsWith(line, "*** ")) return undefined;
  return paddedHeaderAt(lines, line);
}

/** Like `headerAt`, but the line may begin with blanks, like context in a hunk. */
function paddedHeaderAt(lines: LineTable, line: number): keyof typeof headers | undefined {
  if (!lines.startsPadded(line, "*")) return undefined;
  for (const change of ["add", "delete", "update"] as const)
    if (lines.startsPadded(line, headers[change])) return change;
  return undefined;
}

/** Returns whether the line is a marker between blanks. */
const isPadded = (lines: LineTable, line: number, marker: string): boolean =>
  lines.startsPadded(line, marker) && lines.headerOf(line).trim() === marker;

export function* parseV4a(lines: LineTable): Steps<FilePatch[]> {
  return yield* new V4aParser(lines).parse();
}

class V4aParser {
  readonly #lines: LineTable;
  #at = 0;
  /** Whether a patch has begun and not ended yet. */
  #isOpen = false;
  /** The line that ends the last patch after blanks, or -1. Any other such line is context. */
  #paddedEnd = -1;

  constructor(lines: LineTable) {
    this.#lines = lines;
  }

  *parse(): Steps<FilePatch[]> {
    const files: FilePatch[] = [];
    this.#paddedEnd = yield* this.#findPaddedEnd();
    const steps = new LineSteps();
    while (this.#at < this.#lines.count) {
      if (steps.isDueAfter(this.#bytesAt(this.#at))) yield;
      const change = (this.#isOpen ? paddedHeaderAt : headerAt)(this.#lines, this.#at);
      if (change !== undefined) {
        files.push(yield* this.#section(change));
        yield;
      } else {
        if (isPadded(this.#lines, this.#at, begin)) this.#isOpen = true;
        else if (this.#isMarker(end)) this.#isOpen = false;
        else if (this.#isOpen && !this.#isBlank() && !this.#startsWith(environment))
          throw this.#unexpected('send "*** Update File: path" before it, or "*** End Patch"');
        this.#at++;
      }
    }
    if (this.#isOpen) throw refusePatch.cutOff();
    return files;
  }

  *#findPaddedEnd(): Steps<number> {
    let found = -1;
    const steps = new LineSteps();
    for (let line = 0; line < this.#lines.count; line++) {
      if (steps.isDueAfter(this.#bytesAt(line))) yield;
      if (isPadded(this.#lines, line, end)) found = line;
    }
    return found >= 0 && !this.#lines.startsWith(found, "*") ? found : -1;
  }

  *#section(change: keyof typeof headers): Steps<FilePatch> {
    const line = this.#at;
    const name = this.#name(headers[change]);
    if (change === "add") return { change, ...name, line, hunks: yield* this.#added() };
    if (change === "delete") return { change, ...name, line, hunks: [] };
    const target = this.#startsWith(moveTo) ? { ...this.#name(moveTo), isCopy: false } : undefined;
    this.#skipUnifiedNames();
    const hunks = yield* this.#hunks();
    return { change, ...name, line, hunks, ...(target !== undefined && { target }) };
  }

  /**
   * Returns the lines of a new file as one hunk. Blank lines at its end separate it from the text after it.
   */
  *#added(): Steps<Hunk[]> {
    const first = this.#at;
    let last = first;
    for (; this.#at < this.#lines.count; this.#at++) {
      if (this.#at % linesPerStep === linesPerStep - 1) yield;
      if (this.#startsWith("+")) last = this.#at + 1;
      else if (this.#endsSection() || paddedHeaderAt(this.#lines, this.#at) !== undefined) break;
      else if (!this.#isBlank()) throw this.#unexpected('each line of a new file begins with "+"');
    }
    return last === first
      ? []
      : [{ first, end: last, headings: [], isAtEnd: false, header: undefined, isCounted: false }];
  }

  *#hunks(): Steps<Hunk[]> {
    const hunks: Hunk[] = [];
    while (!this.#endsSection()) {
      const afterBlanks = yield* this.#lines.skipEmpty(this.#at);
      if (afterBlanks > this.#at && !this.#beginsHunkLine(afterBlanks)) this.#at = afterBlanks;
      else hunks.push(yield* this.#hunk());
    }
    return hunks;
  }

  *#hunk(): Steps<Hunk> {
    const headings: string[] = [];
    let header: HunkHeader | undefined;
    const steps = new LineSteps();
    for (; this.#startsWith("@@"); this.#at++) {
      if (steps.isDueAfter(this.#bytesAt(this.#at))) yield;
      const text = headerTextOf(this.#lines, this.#at);
      header = parseHunkHeader(text) ?? header;
      const heading = headingIn(text);
      if (heading !== "") headings.push(heading);
    }
    const first = this.#at;
    let [last, isAtEnd] = [first, false];
    for (; !this.#endsSection() && !this.#startsWith("@@"); this.#at++) {
      if (this.#at % linesPerStep === linesPerStep - 1) yield;
      if (this.#isMarker(endOfFile)) {
        isAtEnd = true;
        this.#at++;
        break;
      }
      if (this.#isHunkLine()) last = this.#at + 1;
      else if (!this.#isBlank())
        throw this.#unexpected(
          'each line of a hunk begins with " ", "-" or "+", and "@@" begins the next one',
        );
    }
    if (last === first)
      throw refusePatch.badLine(this.#lineAt(Math.max(0, first - 1)), "no line of a hunk is below it");
    return { first, end: last, headings, isAtEnd, header, isCounted: false };
  }

  /** Skips both lines that name the file in the unified format, if they follow its name in this one. */
  #skipUnifiedNames(): void {
    if (this.#startsWith("--- ") && this.#lines.startsWith(this.#at + 1, "+++ ")) this.#at += 2;
  }

  /** Returns whether there is a line that begins like one of a hunk. */
  #beginsHunkLine(line: number): boolean {
    if (line === this.#lines.count) return false;
    return /^[ +\-\t]$/.test(String.fromCharCode(this.#lines.bytes[this.#lines.startOf(line)]!));
  }

  #name(prefix: string): PatchPath {
    const sent = headerTextOf(this.#lines, this.#at).trimStart().slice(prefix.length).replace(/^ /, "");
    const path = sent.trim();
    if (path === "") throw refusePatch.noFileName(this.#lineAt(this.#at));
    this.#at++;
    return sent === path ? { path } : { path, paddedPath: sent };
  }

  /**
   * Returns whether the section ends here: at the end of the patch, and at a line that begins another section
   * or belongs to none.
   */
  #endsSection(): boolean {
    if (this.#at >= this.#lines.count || this.#at === this.#paddedEnd) return true;
    if (!this.#startsWith("*") && !this.#startsWith("`")) return false;
    return (
      this.#isMarker(begin) || this.#isMarker(end) || this.#isFence() || isV4aHeader(this.#lines, this.#at)
    );
  }

  #isFence(): boolean {
    return this.#isMarker("```");
  }

  #isMarker(marker: string): boolean {
    if (marker === end && this.#at === this.#paddedEnd) return true;
    return this.#startsWith(marker) && this.#lines.headerOf(this.#at).trimEnd() === marker;
  }

  #startsWith(prefix: string): boolean {
    return this.#lines.startsWith(this.#at, prefix);
  }

  #bytesAt(line: number): number {
    return this.#lines.endOf(line) - this.#lines.startOf(line);
  }

  #isBlank(): boolean {
    return this.#lines.isEmpty(this.#at);
  }

  #isHunkLine(): boolean {
    return ["+", "-", " ", "\t", "\\"].some((sign) => this.#startsWith(sign));
  }

  #lineAt(line: number): { line: number; text: string } {
    return { line: line + 1, text: this.#lines.headerOf(line) };
  }

  /** Returns the refusal for an unexpected line. The last line of an unfinished patch may be cut off. */
  #unexpected(wanted: string) {
    if (this.#isOpen && this.#at === this.#lines.count - 1) return refusePatch.cutOff();
    return refusePatch.badLine(this.#lineAt(this.#at), wanted);
  }
}

/**
 * Returns the text after `@@`, without the `@@` that ends it in other formats, or nothing if it consists of
 * line numbers.
 */
function headingIn(line: string): string {
  if (parseHunkHeader(line) !== undefined) return "";
  return line
    .slice(2)
    .replace(/^ /, "")
    .replace(/ ?@@[ \t]*$/, "")
    .trimEnd();
}
