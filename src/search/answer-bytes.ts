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
const contentMatchBytes =
  jsonBytes({ path: "", line: 0, column: 0, text: "" }) - 2 * jsonBytes("") - 2 * jsonBytes(0);

export const quotes = jsonBytes("");

/** Bytes of the fields of an end without their numbers. */
const endLineBytes = ',"end_line":'.length;
const endColumnBytes = ',"end_column":'.length;

/** Whether a match has no lines around it: `placedMatchBytes` counts all its other fields but its text. */
export const hasNoContext = ({ before, after }: Pick<LineMatch, "before" | "after">): boolean =>
  before === undefined && after === undefined;

/** Bytes of a match without context as JSON, without its text and its path. */
export function placedMatchBytes({ line, column, end_line, end_column }: Omit<LineMatch, "text">): number {
  return (
    contentMatchBytes +
    (digits(line) + digits(column)) +
    (end_line === undefined ? 0 : endLineBytes + digits(end_line)) +
    (end_column === undefined ? 0 : endColumnBytes + digits(end_column))
  );
}

/** A spread takes longer than the rest of a match without other fields. */
export function matchEntryOf(path: string, match: LineMatch): ContentMatch {
  const { after, before, column, end_column, end_line, line, text } = match;
  if (hasNoContext(match)) {
    if (end_column === undefined) return { column, line, path, text };
    if (end_line !== undefined) return { column, end_column, end_line, line, path, text };
  }
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
  if (!hasNoContext(entry)) return objectBytes(entry, { path: pathBytes });
  return placedMatchBytes(entry) + pathBytes + jsonBytes(entry.text);
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

/** Maximum bytes of the counts of what was not searched, without names. */
export const notSearchedBytes = jsonBytes({
  not_searched: (
    ["default_excludes", "ignore_files", "denied", "binary", "too_large", "unreadable", "long_lines"] as const
  ).map((reason) => ({ count: Number.MAX_SAFE_INTEGER, reason })),
} satisfies Pick<PageFields, "not_searched">);

/** Bytes of JSON that a UTF-16 unit takes at most: as an escape such as \u0001. */
export const mostBytesOfUnit = 6;
