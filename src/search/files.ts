import type { FileBuffer } from "../files/file-buffer.ts";
import type { FindLineBounds } from "../prefilter/line-bounds.ts";
import type { FileCursor } from "./file-cursor.ts";
import { ignoreVanished } from "./ignore-vanished.ts";
import type { LineMatcher } from "./line-matcher.ts";
import { type LineMatch, type LineOptions, searchLines, slackBytes } from "./lines.ts";

/** The matches in one file, of which there is at least one. */
export interface Finding {
  /** Index of the file in its batch. */
  readonly index: number;
  readonly isInPath: boolean;
  readonly lines: readonly LineMatch[];
}

/** Collects findings in order, and says what more it takes. */
export interface FindingSink {
  readonly wantsPaths: boolean;
  readonly wantsContent: boolean;
  /** Matching lines that it still takes. */
  readonly remainingLines: number;
  add(finding: Finding): void;
}

export interface FileSearch {
  readonly matcher: LineMatcher;
  readonly lines: LineOptions;
  /** Opens the file under the cursor. Throws the errno error. */
  readonly open: (file: FileCursor) => number;
  readonly buffer: FileBuffer;
  readonly lineBounds: FindLineBounds;
  /** The search skips larger files. */
  readonly maxFileBytes: number;
  /** True when the search has to end; it asks often. */
  readonly isOver: () => boolean;
}

/** Searches the files in order, until the sink takes no more or the search has to end. */
export function searchFiles(file: FileCursor, search: FileSearch, sink: FindingSink): void {
  const { matcher } = search;
  const searchContent = contentSearch(file, search);
  while (!search.isOver() && (sink.wantsPaths || sink.wantsContent) && file.next()) {
    const isInPath = sink.wantsPaths && matcher.matchesPath(file.path);
    const lines = sink.wantsContent ? searchContent(sink.remainingLines) : nothing;
    if (isInPath || lines.length > 0) sink.add({ index: file.index, isInPath, lines });
  }
}

const nothing: readonly LineMatch[] = [];

/** A function that searches the file under the cursor. It allocates once, as most files hold nothing. */
function contentSearch(file: FileCursor, search: FileSearch) {
  const { matcher, open, buffer, lineBounds, maxFileBytes, isOver } = search;
  const limits = { maxBytes: maxFileBytes, slackBytes: slackBytes(matcher), isOfUse: beginsAsText };
  const lineSearch = { ...search.lines, maxMatches: 0, isOver, lineBounds };
  const searchText = (text: Buffer, length: number) => searchLines(text, length, matcher, lineSearch);
  const searchFile = () => buffer.withContents(open(file), limits, searchText);
  return (maxMatches: number): readonly LineMatch[] => {
    lineSearch.maxMatches = maxMatches;
    return ignoreVanished(searchFile) ?? nothing;
  };
}

/** Bytes at the beginning of a file in which most binaries show a NUL. */
const binaryProbeBytes = 1024;

/** Spares reading the rest of most binaries; `searchLines` makes the final decision where it finds a match. */
const beginsAsText = (text: Buffer, length: number): boolean =>
  !text.subarray(0, Math.min(length, binaryProbeBytes)).includes(0);
