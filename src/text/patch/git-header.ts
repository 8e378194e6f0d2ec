/**
 * The lines between `diff --git` and the hunks: for a file that is new, deleted, moved or copied, or gets
 * another mode.
 */

import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { readNamePair, readWholeName } from "./file-names.ts";
import { headerTextOf } from "./header-text.ts";
import type { LineTable } from "./line-table.ts";
import { refusePatch } from "./patch-errors.ts";

export const gitDiff = "diff --git ";

export interface GitHeader {
  /** The names of its first line, with their prefixes, or `undefined` if that line is ambiguous. */
  readonly names: readonly [string, string] | undefined;
  /** The mode as git writes it, such as `100644`. */
  readonly newMode?: string;
  readonly oldMode?: string;
  /** Whether the file is empty before, by its hash. */
  readonly wasEmpty?: boolean;
  readonly isNew?: boolean;
  readonly isDeleted?: boolean;
  /** The names of a move or copy, without prefixes. */
  readonly moved?: { readonly from: string; readonly to: string; readonly isCopy: boolean };
  /** The line after the header. */
  readonly end: number;
}

/** Lines that carry no needed information. */
const passedOver = ["similarity index ", "dissimilarity index "];

/** Matches the start of git's hash of an empty file, with SHA-1 or SHA-256. */
const emptyHash = /^index (?:e69de29|473a0f4)/;

const indexLine = "index ";

const nameFields = {
  "rename from ": { end: "from", isCopy: false },
  "rename to ": { end: "to", isCopy: false },
  "copy from ": { end: "from", isCopy: true },
  "copy to ": { end: "to", isCopy: true },
} as const;

const modeFields = {
  "old mode ": { field: "oldMode" },
  "new mode ": { field: "newMode" },
  "new file mode ": { field: "newMode", isNew: true },
  "deleted file mode ": { field: "oldMode", isDeleted: true },
} as const;

type Fields = {
  -readonly [Key in "newMode" | "oldMode" | "isNew" | "isDeleted" | "wasEmpty"]?: GitHeader[Key];
};

export function* parseGitHeader(lines: LineTable, first: number): Steps<GitHeader> {
  const pair = headerTextOf(lines, first).slice(gitDiff.length);
  const names = readNamePair(pair) ?? (pair === pair.trim() ? undefined : readNamePair(pair.trim()));
  const fields: Fields = {};
  const ends: { from?: string; to?: string } = {};
  let [line, isCopy] = [first + 1, false];
  const steps = new LineSteps();
  for (; line < lines.count; line++) {
    if (steps.isDueAfter(lines.endOf(line) - lines.startOf(line))) yield;
    const field = nameFieldAt(lines, line);
    if (field !== undefined) {
      ends[field.end] = field.name;
      isCopy = field.isCopy;
      yield;
    } else if (lines.startsWith(line, indexLine)) fields.wasEmpty = readIndex(lines, line);
    else if (!readMode(lines, line, fields) && !passedOver.some((start) => lines.startsWith(line, start)))
      break;
  }
  const { from, to } = ends;
  const moved = from !== undefined && to !== undefined ? { moved: { from, to, isCopy } } : {};
  return { names, ...fields, ...moved, end: line };
}

function nameFieldAt(lines: LineTable, line: number) {
  for (const [start, field] of Object.entries(nameFields)) {
    if (!lines.startsWith(line, start)) continue;
    const text = headerTextOf(lines, line);
    const name = readWholeName(text.slice(start.length));
    if (name === undefined || name === "") throw refusePatch.noFileName({ line: line + 1, text });
    return { ...field, name };
  }
  return undefined;
}

function readMode(lines: LineTable, line: number, fields: Fields): boolean {
  for (const [start, { field, ...kind }] of Object.entries(modeFields)) {
    if (!lines.startsWith(line, start)) continue;
    const text = lines.headerOf(line);
    const mode = text.slice(start.length).trim();
    requireRegular(mode, { line: line + 1, text });
    Object.assign(fields, kind, { [field]: mode });
    return true;
  }
  return false;
}

/**
 * Returns whether the file is empty before. A mode that stays is only in this line, and without it a patch of
 * a link would be applied to the file that the link leads to.
 */
function readIndex(lines: LineTable, line: number): boolean {
  const text = lines.headerOf(line);
  const mode = text.slice(indexLine.length).trim().split(/ +/)[1];
  if (mode !== undefined) requireRegular(mode, { line: line + 1, text });
  return emptyHash.test(text);
}

const otherKinds: Readonly<Record<string, string>> = { "120": "a symbolic link", "160": "a submodule" };

function requireRegular(mode: string, line: { readonly line: number; readonly text: string }): void {
  const kind = otherKinds[mode.slice(0, 3)];
  if (kind !== undefined) throw refusePatch.unsupported(line, kind);
}
