/** Parses patches in the unified format, as POSIX, GNU diff and git write them, and as models do. */
import { quoteShort } from "../../base/errors.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type HeaderName, hasZeroTime, prefixPartsOf, readName, withoutParts } from "./file-names.ts";
import { type GitHeader, gitDiff, parseGitHeader } from "./git-header.ts";
import { headerTextOf } from "./header-text.ts";
import type { HunkSide } from "./hunk-header.ts";
import type { LineTable } from "./line-table.ts";
import type { FilePatch, Hunk, SentNames } from "./patch.ts";
import { refusePatch } from "./patch-errors.ts";
import { pathAt } from "./resolve-names.ts";
import { namesFileAt, readHunkAt } from "./unified-hunks.ts";

const linesPerStep = 4096;

/** Returns whether the line occurs only in patches of this format. */
export const isUnifiedHeader = (lines: LineTable, line: number): boolean =>
  lines.startsWith(line, gitDiff) ||
  namesFile(lines, line) ||
  namesFileAlone(lines, line) ||
  lines.startsWith(line, "@@ -");

/** Returns whether both lines that name a file begin here. */
const namesFile = (lines: LineTable, line: number): boolean => namesFileAt(lines, line);

/** Returns whether one of the two stands right above a hunk. */
const namesFileAlone = (lines: LineTable, line: number): boolean =>
  (lines.startsWith(line, "--- ") || lines.startsWith(line, "+++ ")) && lines.startsWith(line + 1, "@@");

export function* parseUnified(lines: LineTable): Steps<FilePatch[]> {
  const files: FilePatch[] = [];
  for (let line = 0, steps = 0; line < lines.count; steps++) {
    if (steps % linesPerStep === linesPerStep - 1) yield;
    const header = yield* headerAt(lines, line);
    if (header === undefined) {
      requireNoOrphan(lines, line);
      line++;
      continue;
    }
    const { hunks, end } = yield* readHunks(lines, header.end);
    files.push(fileOf(header, hunks));
    line = end;
    yield;
  }
  return files;
}

/** The lines that name a file, and their content. */
interface FileHeader {
  readonly line: number;
  readonly text: string;
  readonly git: GitHeader | undefined;
  /** The names of the lines right above the hunks, as they are sent. */
  readonly names: SentSides | undefined;
  /** The line after the header. */
  readonly end: number;
}

interface SentSides {
  readonly sides: readonly [HeaderName, HeaderName];
  /** Whether both lines are there, not one for both. */
  readonly isPair: boolean;
  /** Whether both have a time, as diff writes it. */
  readonly isDated: boolean;
  /** Whether each has the time of a file that does not exist. */
  readonly haveZeroTime: readonly [boolean, boolean];
}

function* headerAt(lines: LineTable, line: number): Steps<FileHeader | undefined> {
  const git = lines.startsWith(line, gitDiff) ? yield* parseGitHeader(lines, line) : undefined;
  const at = git?.end ?? line;
  const names = namesAt(lines, at);
  if (git === undefined && names === undefined) return undefined;
  const end = names === undefined ? at : at + (names.isPair ? 2 : 1);
  requireText(lines, end);
  const header = { line, text: lines.headerOf(line), git, names, end };
  requireConsistency(header);
  return header;
}

function namesAt(lines: LineTable, line: number): SentSides | undefined {
  const isPair = namesFile(lines, line);
  if (!isPair && !namesFileAlone(lines, line)) return undefined;
  const old = nameAt(lines, line);
  const now = isPair ? nameAt(lines, line + 1) : old;
  const isZero = (at: number) => hasZeroTime(lines.headerOf(at));
  const isDated = isPair && [line, line + 1].every((at) => hasTime(lines.headerOf(at)));
  return {
    sides: [old, now],
    isPair,
    isDated,
    haveZeroTime: [isPair && isZero(line), isPair && isZero(line + 1)],
  };
}

/** Returns whether a time follows a name. The regex alone would take quadratic time to find the tab. */
function hasTime(text: string): boolean {
  const tab = text.indexOf("\t");
  return tab >= 0 && /\d\d:\d\d/.test(text.slice(tab));
}

function nameAt(lines: LineTable, line: number): HeaderName {
  const text = headerTextOf(lines, line);
  const name = readName(text.slice(4).trimStart());
  if (name === "/dev/null" && !text.includes('"')) return undefined;
  if (name === undefined || name === "") throw refusePatch.noFileName({ line: line + 1, text });
  return name;
}

/** Refuses a header whose lines contradict each other, like git. */
function requireConsistency({ line, text, git, names }: FileHeader): void {
  if (git === undefined || names === undefined) return;
  const [old, now] = names.sides;
  const at = { line: line + 1, text };
  if (git.isNew === true && names.isPair && old !== undefined)
    throw refusePatch.contradiction(at, "a new file", `--- ${old}`, "--- /dev/null");
  if (git.isDeleted === true && names.isPair && now !== undefined)
    throw refusePatch.contradiction(at, "a deleted file", `+++ ${now}`, "+++ /dev/null");
  const wanted = git.moved === undefined ? git.names : ([git.moved.from, git.moved.to] as const);
  if (wanted === undefined || !names.isPair) return;
  for (const [side, name] of names.sides.entries())
    if (name !== undefined && !isSameName(name, wanted[side]!))
      throw refusePatch.contradiction(
        at,
        quoteShort(wanted[side]!),
        `${side === 0 ? "---" : "+++"} ${name}`,
        "",
      );
}

/** Returns whether two names are equal, or but for one part before either. */
const isSameName = (a: string, b: string): boolean =>
  a === b ||
  withoutParts(a, 1) === b ||
  withoutParts(b, 1) === a ||
  withoutParts(a, 1) === withoutParts(b, 1);

function* readHunks(lines: LineTable, first: number): Steps<{ hunks: Hunk[]; end: number }> {
  const hunks: Hunk[] = [];
  let end = first;
  for (;;) {
    const line = yield* lines.skipEmpty(end);
    if (!lines.startsWith(line, "@@")) return { hunks, end };
    const hunk = yield* readHunkAt(lines, line);
    hunks.push(hunk);
    end = hunk.end;
    yield;
  }
}

function fileOf(header: FileHeader, hunks: readonly Hunk[]): FilePatch {
  const { line, git } = header;
  const names = sentNamesOf(header);
  const common = {
    line,
    hunks,
    names,
    path: pathAt(names, names.prefixParts) ?? names.sides[1] ?? names.sides[0]!,
  };
  const [isNew, isDeleted] = existenceOf(header, hunks);
  if (isNew) return { change: "add", ...common, ...newModeOf(git) };
  const oldMode = modeOf(git?.oldMode);
  if (isDeleted) {
    const wasEmpty = hunks.length === 0 && git?.wasEmpty === true;
    return {
      change: "delete",
      ...common,
      ...(oldMode !== undefined && { oldMode }),
      ...(wasEmpty && { wasEmpty }),
    };
  }
  const moved = git?.moved;
  const target =
    moved === undefined || moved.from === moved.to ? undefined : { path: moved.to, isCopy: moved.isCopy };
  const mayBeMissing = git === undefined && hunks.length === 1 && isEmptyAtStart(hunks[0]!.header?.old);
  return {
    change: "update",
    ...common,
    path: moved?.from ?? common.path,
    ...newModeOf(git),
    ...(oldMode !== undefined && { oldMode }),
    ...(target !== undefined && { target }),
    ...(mayBeMissing && { mayBeMissing }),
  };
}

/** Returns whether the file is new, and whether it is deleted. */
function existenceOf({ git, names }: FileHeader, hunks: readonly Hunk[]): readonly [boolean, boolean] {
  const [old, now] = names?.sides ?? [];
  const header = hunks.length === 1 ? hunks[0]!.header : undefined;
  const isNew = git?.isNew === true || (names !== undefined && old === undefined);
  const isDeleted = git?.isDeleted === true || (names !== undefined && now === undefined);
  if (isNew || isDeleted || git !== undefined) return [isNew, isDeleted];
  // The time alone proves nothing, since some tools set it for all files.
  const [isOldZero, isNewZero] = names?.haveZeroTime ?? [false, false];
  return [isOldZero && isEmptyAtStart(header?.old), isNewZero && isEmptyAtStart(header?.new)];
}

const isEmptyAtStart = (side: HunkSide | undefined): boolean => side?.linesBefore === 0 && side.count === 0;

/** Returns the mode of the file. A new one gets the default, unless it is executable. */
function newModeOf(git: GitHeader | undefined): { mode?: number } {
  const mode = modeOf(git?.newMode);
  return mode === undefined || (mode === 0o644 && git?.isNew === true) ? {} : { mode };
}

const modeOf = (written: string | undefined): number | undefined =>
  written === undefined ? undefined : written === "100755" ? 0o755 : 0o644;

function sentNamesOf({ git, names, line, text }: FileHeader): SentNames {
  const ofGit = git?.names;
  const moved = git?.moved && ([git.moved.from, git.moved.to] as const);
  const sides = names?.sides ?? ofGit ?? moved;
  if (sides === undefined || (sides[0] === undefined && sides[1] === undefined))
    throw refusePatch.noFileName({ line: line + 1, text });
  return {
    sides: [sides[0] ?? ofGit?.[0], sides[1] ?? ofGit?.[1]],
    prefixParts: prefixPartsIn(names, ofGit),
    isDated: names?.isDated === true,
    ...(moved !== undefined && { moved }),
  };
}

/** Returns the number of parts that are prefixes. If both names of git's line are equal, it writes none. */
function prefixPartsIn(names: SentSides | undefined, ofGit: GitHeader["names"]): number {
  if (ofGit !== undefined && ofGit[0] === ofGit[1]) return 0;
  if (names === undefined) return ofGit === undefined ? 0 : prefixPartsOf(ofGit);
  if (names.isPair) return prefixPartsOf(names.sides);
  return /^[ab]\//.test(names.sides[0] ?? "") ? 1 : 0;
}

/** Refuses binary patches and files. */
function requireText(lines: LineTable, line: number): void {
  const text = lines.startsWith(line, "GIT binary patch") || lines.startsWith(line, "Binary files ");
  if (text) throw refusePatch.unsupported({ line: line + 1, text: lines.headerOf(line) }, "a binary file");
}

/** Refuses a hunk without a file, and formats other than a unified diff. */
function requireNoOrphan(lines: LineTable, line: number): void {
  const at = () => ({ line: line + 1, text: lines.headerOf(line) });
  if (
    lines.startsWith(line, "@@@") ||
    lines.startsWith(line, "diff --cc ") ||
    lines.startsWith(line, "diff --combined ")
  )
    throw refusePatch.unsupported(at(), "a merge");
  if (lines.startsWith(line, "@@ ") || lines.startsWith(line, "@@\n"))
    throw refusePatch.badLine(at(), 'no file is named above it; send "--- a/path" and "+++ b/path" first');
  if (lines.startsWith(line, "***************"))
    throw refusePatch.badLine(at(), "this is a context diff; send a unified one, as diff -u makes it");
  if (lines.startsWith(line, "Binary files ")) requireText(lines, line);
}
