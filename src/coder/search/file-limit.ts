/** The maximum size of the files that a call searches, and its origin (coder §16). */
import { maxTextBytes } from "../../search/matchers/spans.ts";
import type { FileLimit, NotSearched } from "../../search/request.ts";
import { countBytes } from "../render/entry-text.ts";

/** The limits that apply to a call. */
interface FileLimits {
  readonly max_read_bytes: number;
  readonly max_write_bytes?: number;
  readonly max_file_bytes?: number | undefined;
  readonly isMultiline: boolean;
}

/** Returns the smallest limit; of equal ones a configured one, since a larger field would not help. */
export function fileLimitOf({ isMultiline, ...limits }: FileLimits): FileLimit {
  const all = [
    { max_bytes: limits.max_read_bytes, set_by: "max_read_bytes" },
    { max_bytes: limits.max_write_bytes, set_by: "max_write_bytes" },
    { max_bytes: isMultiline ? maxTextBytes : undefined, set_by: "multiline" },
    { max_bytes: limits.max_file_bytes, set_by: "max_file_bytes" },
  ] as const;
  return all
    .map(({ max_bytes = Number.POSITIVE_INFINITY, set_by }) => ({ max_bytes, set_by }))
    .reduce((smallest, limit) => (limit.max_bytes < smallest.max_bytes ? limit : smallest));
}

/** A call that did not search some files, because they are too large. */
interface LimitedCall extends Pick<NotSearched, "max_bytes" | "set_by"> {
  /** The field `max_file_bytes` of the call, which has no effect above the limit. */
  readonly sentBytes?: number | undefined;
}

/** Renders the limit that a file exceeds, its origin, and a call that works, if the limit is known. */
export function renderFileLimit({
  max_bytes: bytes,
  set_by: by,
  sentBytes = 0,
}: LimitedCall): string | undefined {
  if (bytes === undefined || by === undefined) return undefined;
  const over = `over ${bytes > 0 && bytes % mebibyte === 0 ? `${bytes / mebibyte} MiB` : countBytes(bytes)}`;
  const above = sentBytes > bytes ? ", which max_file_bytes cannot exceed" : "";
  return `${over}, ${remedies[by].replace(";", `${above};`)}`;
}

const mebibyte = 1024 * 1024;

const remedies = {
  max_read_bytes:
    "the max_read_bytes of the configuration; coder::read-file reads parts, with line_from and line_to",
  max_write_bytes: "the max_write_bytes of the configuration; only the user can raise it",
  multiline: "the maximum for matches that may span lines; search for single lines",
  max_file_bytes: "the max_file_bytes of this call; send a larger one",
} as const;
