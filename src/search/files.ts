import type { FileBuffer, Opener } from "../files/file-buffer.ts";
import type { Name } from "../jail/folder.ts";
import { unlessGone } from "./gone.ts";
import { type LineMatch, searchLines, slackBytes } from "./lines.ts";
import type { Query } from "./query.ts";

/** A file of a batch. */
export interface BatchFile {
  readonly open: Opener;
  readonly name: Name;
  /** From the base, "/" between names. */
  readonly path: string;
}

/** What was found in one file: something, or it is not mentioned. */
export interface Finding {
  /** Of the file, in its batch. */
  readonly index: number;
  readonly isInPath: boolean;
  readonly lines: readonly LineMatch[];
}

/** Takes findings in order, and says what more it wants. */
export interface Sink {
  readonly wantsPaths: boolean;
  readonly wantsContent: boolean;
  /** Matching lines that can make a difference. */
  readonly contentRoom: number;
  add(finding: Finding): void;
}

export interface FileSearch {
  readonly query: Query;
  readonly buffer: FileBuffer;
  readonly maxLineBytes: number;
  /** See `LineLimits`. */
  readonly textBytes?: number | undefined;
  /** Larger files are passed over. */
  readonly maxFileBytes: number;
  /** Asked often; true when the search has to end. */
  readonly isOver: () => boolean;
}

/** Searches `files` in order, until the sink wants no more or the search is over. */
export function searchFiles(files: readonly BatchFile[], search: FileSearch, sink: Sink): void {
  for (const [index, file] of files.entries()) {
    if (search.isOver() || !(sink.wantsPaths || sink.wantsContent)) return;
    const isInPath = sink.wantsPaths && search.query.inPath(file.path);
    const lines = sink.wantsContent ? searchContent(file, search, sink.contentRoom) : [];
    if (isInPath || lines.length > 0) sink.add({ index, isInPath, lines });
  }
}

function searchContent({ open, name }: BatchFile, search: FileSearch, maxMatches: number): LineMatch[] {
  const { query, buffer, maxFileBytes, maxLineBytes, textBytes, isOver } = search;
  const limits = { maxBytes: maxFileBytes, slackBytes: slackBytes(query), isOfUse: beginsAsText };
  const find = (text: Buffer, length: number) =>
    searchLines(text, length, query, { maxMatches, maxLineBytes, textBytes, isOver });
  return unlessGone(() => buffer.lend(open, name, limits, find)) ?? [];
}

/** Bytes at the beginning of a file in which most binaries show a NUL. */
const glance = 1024;

/** Spares reading the rest of most binaries; what is not text in the end is decided where something is found. */
const beginsAsText = (text: Buffer, length: number): boolean =>
  !text.subarray(0, Math.min(length, glance)).includes(0);
