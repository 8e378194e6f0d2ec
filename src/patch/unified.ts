/** Parses patches in the unified format, as POSIX, GNU diff and git write them, and as models do. */
import type { Steps } from "../scheduling/time-slice.ts";
import { refusePatch } from "./errors.ts";
import { type HeaderName, readName, withoutPrefixes } from "./file-names.ts";
import { type GitHeader, gitDiff, parseGitHeader } from "./git-header.ts";
import type { LineTable } from "./line-table.ts";
import type { FilePatch, Hunk } from "./patch.ts";
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
    const header = headerAt(lines, line);
    if (header === undefined) {
      requireNoOrphan(lines, line);
      line++;
      continue;
    }
    const { hunks, end } = yield* readHunks(lines, header.end);
    files.push(fileOf(header, hunks));
    line = end;
  }
  return files;
}

/** The lines that name a file, and their content. */
interface FileHeader {
  readonly line: number;
  readonly text: string;
  readonly git: GitHeader | undefined;
  /** The names of the lines right above the hunks, without prefixes. */
  readonly names: readonly [HeaderName, HeaderName] | undefined;
  /** The line after the header. */
  readonly end: number;
}

function headerAt(lines: LineTable, line: number): FileHeader | undefined {
  const git = lines.startsWith(line, gitDiff) ? parseGitHeader(lines, line) : undefined;
  const at = git?.end ?? line;
  const names = namesAt(lines, at, git);
  if (git === undefined && names === undefined) return undefined;
  const end = names === undefined ? at : at + names.lines;
  requireText(lines, end);
  return { line, text: lines.textOf(line), git, names: names?.names, end };
}

function namesAt(lines: LineTable, line: number, git: GitHeader | undefined) {
  const isPair = namesFile(lines, line);
  if (!isPair && !namesFileAlone(lines, line)) return undefined;
  const old = nameAt(lines, line);
  const now = isPair ? nameAt(lines, line + 1) : old;
  // If both names of git's line are equal, it writes no prefixes.
  const hasPrefixes = isPair && (git?.names === undefined || git.names[0] !== git.names[1]);
  const names = hasPrefixes ? withoutPrefixes([old, now]) : ([old, now] as const);
  return { names: isPair ? names : withoutOnePrefix(names), lines: isPair ? 2 : 1 };
}

const withoutOnePrefix = ([name]: readonly [HeaderName, HeaderName]): readonly [HeaderName, HeaderName] => {
  const bare = name?.replace(/^[ab]\//, "");
  return [bare, bare];
};

function nameAt(lines: LineTable, line: number): HeaderName {
  const text = lines.textOf(line);
  const name = readName(text.slice(4).trim());
  if (name === "/dev/null" && !text.includes('"')) return undefined;
  if (name === undefined || name === "") throw refusePatch.noFileName({ line: line + 1, text });
  return name;
}

function* readHunks(lines: LineTable, first: number): Steps<{ hunks: Hunk[]; end: number }> {
  const hunks: Hunk[] = [];
  let end = first;
  for (;;) {
    let line = end;
    while (line < lines.count && lines.isEmpty(line)) line++;
    if (!lines.startsWith(line, "@@")) return { hunks, end };
    const hunk = yield* readHunkAt(lines, line);
    hunks.push(hunk);
    end = hunk.end;
    yield;
  }
}

function fileOf(header: FileHeader, hunks: readonly Hunk[]): FilePatch {
  const { line, git } = header;
  const [old, now] = namesOf(header);
  const path = now ?? old;
  if (path === undefined) throw refusePatch.noFileName({ line: line + 1, text: header.text });
  const mode = modeOf(git);
  if (old === undefined || git?.isNew === true) return { change: "add", path, line, hunks, ...mode };
  if (now === undefined || git?.isDeleted === true) return { change: "delete", path: old, line, hunks };
  const moved = git?.moved;
  const target =
    moved === undefined || moved.from === moved.to ? undefined : { path: moved.to, isCopy: moved.isCopy };
  return {
    change: "update",
    path: moved?.from ?? path,
    line,
    hunks,
    ...mode,
    ...(target !== undefined && { target }),
  };
}

/** Returns the mode of the file. A new one gets the default, unless it is executable. */
function modeOf(git: GitHeader | undefined): { mode?: number } {
  if (git?.newMode === undefined) return {};
  if (git.newMode === "100755") return { mode: 0o755 };
  return git.isNew === true ? {} : { mode: 0o644 };
}

/**
 * Returns the name before and the name after. Without a rename they are the same, except for the mark of an
 * older copy.
 */
function namesOf({ git, names, line, text }: FileHeader): readonly [HeaderName, HeaderName] {
  if (git?.moved !== undefined) return [git.moved.from, git.moved.to];
  const ofGit =
    git?.names === undefined || git.names[0] === git.names[1] ? git?.names : withoutPrefixes(git.names);
  const both = names ?? ofGit;
  if (both === undefined) throw refusePatch.noFileName({ line: line + 1, text });
  const [old, now] = both;
  if (old === undefined || now === undefined) return both;
  if (old !== now && !(old.startsWith(now) && olderCopy.test(old.slice(now.length))))
    throw refusePatch.twoNames({ line: line + 1, text }, [old, now]);
  return [now, now];
}

const olderCopy = /^(?:\.orig|\.old|\.bak|~)$/;

/** Refuses binary patches and files. */
function requireText(lines: LineTable, line: number): void {
  const text = lines.startsWith(line, "GIT binary patch") || lines.startsWith(line, "Binary files ");
  if (text) throw refusePatch.unsupported({ line: line + 1, text: lines.textOf(line) }, "a binary file");
}

/** Refuses a hunk without a file, and formats other than a unified diff. */
function requireNoOrphan(lines: LineTable, line: number): void {
  const at = () => ({ line: line + 1, text: lines.textOf(line) });
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
