import { expect, test } from "bun:test";
import { fileLimitOf, renderFileLimit } from "./file-limit.ts";

const mebibyte = 1024 * 1024;

test.each([
  [{ max_file_bytes: undefined, isMultiline: false }, 30 * mebibyte, "max_read_bytes"],
  [{ max_file_bytes: 31 * mebibyte, isMultiline: false }, 30 * mebibyte, "max_read_bytes"],
  [{ max_file_bytes: 30 * mebibyte, isMultiline: false }, 30 * mebibyte, "max_read_bytes"],
  [{ max_file_bytes: 5, isMultiline: true }, 5, "max_file_bytes"],
  [{ max_file_bytes: 0, isMultiline: false }, 0, "max_file_bytes"],
  [{ max_file_bytes: 11 * mebibyte, isMultiline: true }, 10 * mebibyte, "multiline"],
  [{ max_write_bytes: 7, isMultiline: true }, 7, "max_write_bytes"],
] as const)("the smallest limit counts: %j", (limits, max_bytes, set_by) => {
  expect(fileLimitOf({ max_read_bytes: 30 * mebibyte, ...limits })).toEqual({ max_bytes, set_by });
});

test.each([
  [{}, undefined],
  [
    { max_bytes: 10 * mebibyte, set_by: "max_read_bytes", sentBytes: 10 * mebibyte },
    "over 10 MiB, the max_read_bytes of the configuration; coder::read-file reads parts, with line_from and line_to",
  ],
  [
    { max_bytes: 1, set_by: "max_read_bytes", sentBytes: 2 },
    "over 1 byte, the max_read_bytes of the configuration, which max_file_bytes cannot exceed; coder::read-file reads parts, with line_from and line_to",
  ],
  [
    { max_bytes: 7, set_by: "max_write_bytes" },
    "over 7 bytes, the max_write_bytes of the configuration; only the user can raise it",
  ],
  [
    { max_bytes: 10 * mebibyte, set_by: "multiline" },
    "over 10 MiB, the maximum for matches that may span lines; search for single lines",
  ],
  [
    { max_bytes: 0, set_by: "max_file_bytes" },
    "over 0 bytes, the max_file_bytes of this call; send a larger one",
  ],
] as const)("the limit %j is named, and what works", (limit, text) => {
  expect(renderFileLimit(limit)).toBe(text);
});
