/** The lines of a diff, as rows of one long list. */
import { parsePatch } from "diff";
import { Block, languageOf } from "../highlight.ts";
import { imageTypeOf } from "../images.tsx";
import type { ChangedFile } from "../worker.ts";

/** A line of one side, or of both. */
export interface DiffLine {
  readonly sign: " " | "+" | "-";
  readonly old: number | undefined;
  readonly now: number | undefined;
  readonly text: string;
  /** The text around it, needed for the colours of its syntax, and its place there. */
  readonly block: Block;
  readonly at: number;
  /** The line on the other side that it replaces, or is replaced by. */
  other?: DiffLine;
  /** Whether the file ends here without a line end. */
  isUnended?: boolean;
}

export type Row =
  | { readonly kind: "file"; readonly file: ChangedFile; readonly isOpen: boolean }
  | { readonly kind: "note"; readonly text: string }
  | { readonly kind: "images"; readonly file: ChangedFile }
  /** Unchanged lines that are left out of the diff of a file. */
  | { readonly kind: "gap"; readonly count: number; readonly file: ChangedFile }
  | { readonly kind: "line"; readonly line: DiffLine }
  | { readonly kind: "pair"; readonly left: DiffLine | undefined; readonly right: DiffLine | undefined };

/** Maximum lines whose syntax is coloured at once, so that scrolling never waits for a long file. */
const blockLines = 400;

/** Lines without which a file is shown at once; the rest is opened by its button. */
export const openLines = 20_000;

interface HunkOfFile {
  /** Unchanged lines before it that are left out. */
  readonly gap: number;
  readonly lines: readonly DiffLine[];
  /** The numbers of its first line after the changes, and of the lines after its last one. */
  readonly now: number;
  readonly end: { readonly old: number; readonly now: number };
}

/** The lines of one file's diff, read once. */
export interface DiffOfFile {
  readonly file: ChangedFile;
  readonly hunks: readonly HunkOfFile[];
  readonly notes: readonly string[];
  readonly count: number;
}

/** Reads the diff of a file. Its text is the worker's, and so follows git's format. */
export function readLines(file: ChangedFile, isReversed = false): DiffOfFile {
  const { diff = "" } = file;
  const [parsed] = diff === "" ? [] : parsePatch(diff);
  const language = languageOf(file.path);
  let end = 1;
  const hunks = (parsed?.hunks ?? []).map((hunk) => {
    const gap = Math.max(0, hunk.oldStart - end);
    end = hunk.oldStart + hunk.oldLines;
    return {
      gap,
      lines: linesOf(hunk, { language, isReversed }),
      now: hunk.newStart,
      end: { old: end, now: hunk.newStart + hunk.newLines },
    };
  });
  return {
    file,
    hunks,
    notes: notesOf(file, hunks.length > 0, isReversed),
    count: hunks.reduce((sum, { lines }) => sum + lines.length, 0),
  };
}

/** Adds the lines that the diff of a file leaves out, from `text`, the file after the changes. */
export function withContext(read: DiffOfFile, text: string): DiffOfFile {
  const all = (text.endsWith("\n") ? text.slice(0, -1) : text).split("\n");
  const blocks = new Blocks(languageOf(read.file.path));
  const hunks: HunkOfFile[] = [];
  let at = { old: 1, now: 1 };
  const addUpTo = (end: number) => {
    const lines: DiffLine[] = [];
    for (let { old, now } = at; now < end; old++, now++) {
      const line = all[now - 1] ?? "";
      lines.push({ sign: " ", old, now, text: line, ...blocks.add(line) });
    }
    if (lines.length > 0) hunks.push({ gap: 0, lines, now: at.now, end: at });
  };
  for (const hunk of read.hunks) {
    addUpTo(hunk.now);
    hunks.push({ ...hunk, gap: 0 });
    at = hunk.end;
  }
  addUpTo(all.length + 1);
  return { ...read, hunks };
}

interface Hunk {
  readonly oldStart: number;
  readonly newStart: number;
  readonly lines: readonly string[];
}

function linesOf(
  hunk: Hunk,
  { language, isReversed }: { readonly language: string | undefined; readonly isReversed: boolean },
): DiffLine[] {
  const [before, after] = [new Blocks(language), new Blocks(language)];
  let [old, now] = [hunk.oldStart, hunk.newStart];
  const lines: DiffLine[] = [];
  for (const written of hunk.lines) {
    const text = written.slice(1);
    switch (written[0]) {
      case "+":
        lines.push({ sign: isReversed ? "-" : "+", old: undefined, now: now++, text, ...after.add(text) });
        break;
      case "-":
        lines.push({ sign: isReversed ? "+" : "-", old: old++, now: undefined, text, ...before.add(text) });
        break;
      case "\\":
        if (lines.length > 0) lines.at(-1)!.isUnended = true;
        break;
      default:
        before.add(text);
        lines.push({ sign: " ", old: old++, now: now++, text, ...after.add(text) });
    }
  }
  const ordered = isReversed ? lines.map(reverse) : lines;
  pairUp(ordered);
  return isReversed ? sortRuns(ordered) : ordered;
}

const reverse = ({ old, now, ...line }: DiffLine): DiffLine => ({ ...line, old: now, now: old });

/** Puts removed lines before added ones in each run, as in a diff that was made in this direction. */
function sortRuns(lines: readonly DiffLine[]): DiffLine[] {
  const sorted: DiffLine[] = [];
  for (const run of runsOf(lines))
    sorted.push(...run.filter(({ sign }) => sign !== "+"), ...run.filter(({ sign }) => sign === "+"));
  return sorted;
}

/** Splits lines into runs of changed lines, and of unchanged ones. */
function* runsOf(lines: readonly DiffLine[]): Generator<DiffLine[], void, void> {
  let run: DiffLine[] = [];
  for (const line of lines) {
    if (run.length > 0 && (run[0]!.sign === " ") !== (line.sign === " ")) {
      yield run;
      run = [];
    }
    run.push(line);
  }
  if (run.length > 0) yield run;
}

/** Pairs each removed line of a run with the added one in the same place, whose words are compared. */
function pairUp(lines: readonly DiffLine[]): void {
  for (const run of runsOf(lines)) {
    const [removed, added] = (["-", "+"] as const).map((sign) => run.filter((line) => line.sign === sign));
    for (const [index, line] of removed!.entries()) {
      const other = added![index];
      if (other === undefined) break;
      line.other = other;
      other.other = line;
    }
  }
}

class Blocks {
  readonly #language: string | undefined;
  #block: Block;

  constructor(language: string | undefined) {
    this.#language = language;
    this.#block = new Block(language);
  }

  add(text: string): { block: Block; at: number } {
    if (this.#block.lines.length === blockLines) this.#block = new Block(this.#language);
    return { block: this.#block, at: this.#block.lines.push(text) - 1 };
  }
}

function notesOf(
  { note, isTruncated, kind, from, isFolder, diff }: ChangedFile,
  hasLines: boolean,
  isReversed: boolean,
): string[] {
  if (isTruncated) return ["More of this difference is too long for one answer, and is not shown."];
  if (note !== undefined) return [`No lines to compare: ${note}.`];
  if (hasLines) return [];
  if (from !== undefined)
    return [isReversed ? "Moved back, with the same content." : "Moved, with the same content."];
  if (isFolder || diff === undefined) return [];
  if (kind === "created" || kind === "deleted") return ["An empty file."];
  return ["Only its permissions differ."];
}

export interface RowOptions {
  readonly isSplit: boolean;
  /** Whether images can be shown. */
  readonly withImages: boolean;
  readonly isOpen: (file: DiffOfFile) => boolean;
}

/** Lays the files out as rows. */
export function rowsOf(files: readonly DiffOfFile[], { isSplit, withImages, isOpen }: RowOptions): Row[] {
  const rows: Row[] = [];
  for (const file of files) {
    const open = isOpen(file);
    rows.push({ kind: "file", file: file.file, isOpen: open });
    if (!open) continue;
    for (const { gap, lines } of file.hunks) {
      if (gap > 0) rows.push({ kind: "gap", count: gap, file: file.file });
      if (isSplit) for (const pair of pairsOf(lines)) rows.push(pair);
      else for (const line of lines) rows.push({ kind: "line", line });
    }
    const { path, note } = file.file;
    if (withImages && note !== undefined && imageTypeOf(path) !== undefined)
      rows.push({ kind: "images", file: file.file });
    else for (const text of file.notes) rows.push({ kind: "note", text });
  }
  return rows;
}

function* pairsOf(lines: readonly DiffLine[]): Generator<Row, void, void> {
  for (const run of runsOf(lines)) {
    if (run[0]!.sign === " ") {
      for (const line of run) yield { kind: "pair", left: line, right: line };
      continue;
    }
    const [removed, added] = (["-", "+"] as const).map((sign) => run.filter((line) => line.sign === sign));
    for (let index = 0; index < Math.max(removed!.length, added!.length); index++)
      yield { kind: "pair", left: removed![index], right: added![index] };
  }
}
