/**
 * The entries of an answer, and their bytes as JSON. Their keys are sorted, as those of the whole answer are: then the embedded
 * engine sends its text on as it is (decision 43).
 */
import { digits, jsonBytes, objectBytes } from "../text/json-size.ts";
import { cursorBytes } from "./cursors.ts";
import type { LineMatch } from "./lines.ts";
import type { ContentMatch, PageFields } from "./request.ts";

/** Bytes of matches as JSON without their strings and numbers. */
export const pathMatchBytes = jsonBytes({ path: "" }) - jsonBytes("");
export const kindBytes = ',"kind":"file"'.length;
export const contentMatchBytes =
  jsonBytes({ path: "", line: 0, column: 0, text: "" }) - 2 * jsonBytes("") - 2 * jsonBytes(0);

export const quotes = jsonBytes("");

/** Whether a match has no other fields than those that `contentMatchBytes` counts. */
export const isPlain = ({ end_column, before, after }: LineMatch): boolean =>
  end_column === undefined && before === undefined && after === undefined;

/** A spread takes longer than the rest of a match without other fields. */
export function matchEntryOf(path: string, match: LineMatch): ContentMatch {
  const { column, line, text } = match;
  if (isPlain(match)) return { column, line, path, text };
  const { after, before, end_column, end_line } = match;
  return {
    ...(after && { after }),
    ...(before && { before }),
    column,
    ...(end_column !== undefined && { end_column }),
    ...(end_line !== undefined && { end_line }),
    ...{ line, path, text },
  };
}

export function matchEntryBytes(entry: ContentMatch, pathBytes: number): number {
  if (!isPlain(entry)) return objectBytes(entry, { path: pathBytes });
  return contentMatchBytes + pathBytes + digits(entry.line) + digits(entry.column) + jsonBytes(entry.text);
}

/** Most bytes of the fields of a page, without the path in its cursor. */
export const pageBytes = jsonBytes({
  next_cursor: "x".repeat(cursorBytes(0)),
  searched: { files: Number.MAX_SAFE_INTEGER, bytes: Number.MAX_SAFE_INTEGER },
  skipped: {
    too_large: Number.MAX_SAFE_INTEGER,
    binary: Number.MAX_SAFE_INTEGER,
    unreadable: Number.MAX_SAFE_INTEGER,
    excluded: Number.MAX_SAFE_INTEGER,
    long_lines: Number.MAX_SAFE_INTEGER,
  },
  stopped_by: "max_matches",
} satisfies PageFields);

/** Bytes of JSON that a UTF-16 unit takes at most: as an escape such as \u0001. */
export const mostBytesOfUnit = 6;
