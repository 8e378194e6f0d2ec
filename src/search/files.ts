import type { FileBuffer } from "../files/file-buffer.ts";
import type { FindLineBounds } from "../prefilter/line-bounds.ts";
import type { FileCursor } from "./file-cursor.ts";
import { ignoreVanished } from "./ignore-vanished.ts";
import type { LineMatcher } from "./line-matcher.ts";
import { type LineMatch, type LineOptions, searchLines, slackBytes } from "./lines.ts";

/** What was found in one file: something, or it is not mentioned. */
export interface Finding {
  /** Of the file, in its batch. */
  readonly index: number;
  readonly isInPath: boolean;
  readonly lines: readonly LineMatch[];
}

/** Takes findings in order, and says what more it wants. */
export interface FindingSink {
  readonly wantsPaths: boolean;
  readonly wantsContent: boolean;
  /** Matching lines that can make a difference. */
  readonly remainingLines: number;
  add(finding: Finding): void;
}

export interface FileSearch {
  readonly matcher: LineMatcher;
  readonly lines: LineOptions;
  /** Opens the file that the cursor has come to. Throws the errno error. */
  readonly open: (file: FileCursor) => number;
  readonly buffer: FileBuffer;
  readonly enclose: FindLineBounds;
  /** Larger files are passed over. */
  readonly maxFileBytes: number;
  /** Asked often; true when the search has to end. */
  readonly isOver: () => boolean;
}

/** Searches the files in order, until the sink wants no more or the search is over. */
export function searchFiles(file: FileCursor, search: FileSearch, sink: FindingSink): void {
  const { matcher } = search;
  const searchContent = contentSearch(file, search);
  while (!search.isOver() && (sink.wantsPaths || sink.wantsContent) && file.next()) {
    const isInPath = sink.wantsPaths && matcher.inPath(file.path);
    const lines = sink.wantsContent ? searchContent(sink.remainingLines) : nothing;
    if (isInPath || lines.length > 0) sink.add({ index: file.index, isInPath, lines });
  }
}

const nothing: readonly LineMatch[] = [];

/** What searches one file after the other: there is one of it, and nothing is made per file that need not be. */
function contentSearch(file: FileCursor, search: FileSearch) {
  const { matcher, open, buffer, enclose, maxFileBytes, isOver } = search;
  const limits = { maxBytes: maxFileBytes, slackBytes: slackBytes(matcher), isOfUse: beginsAsText };
  const lineSearch = { ...search.lines, maxMatches: 0, isOver, enclose };
  const find = (text: Buffer, length: number) => searchLines(text, length, matcher, lineSearch);
  const searchFile = () => buffer.withContents(open(file), limits, find);
  return (maxMatches: number): readonly LineMatch[] => {
    lineSearch.maxMatches = maxMatches;
    return ignoreVanished(searchFile) ?? nothing;
  };
}

/** Bytes at the beginning of a file in which most binaries show a NUL. */
const binaryProbeBytes = 1024;

/** Spares reading the rest of most binaries; what is not text in the end is decided where something is found. */
const beginsAsText = (text: Buffer, length: number): boolean =>
  !text.subarray(0, Math.min(length, binaryProbeBytes)).includes(0);
