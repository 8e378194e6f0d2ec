import { expect, test } from "bun:test";
import { binaryKind, encodingByMark, mediaTypeOf } from "./file-kind.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

test.each([
  ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
  ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a;", "image/gif"],
  ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
  ["RIFF\0\0\0\0WAVEfmt ", "audio/wav"],
  ["ID3\x04", "audio/mpeg"],
])("%j is %s", (text, type) => {
  expect(mediaTypeOf(bytes(text))).toBe(type);
});

test.each([
  "",
  "\x89PNG",
  "PNG\r\n\x1a\n",
  "\xff\xd8",
  "GIF88a",
  "RIFF\0\0\0\0AVI ",
  "RIFFWEBP",
  "BM",
  "<svg/>",
  "%PDF",
])("%j is not shown or played", (text) => {
  expect(mediaTypeOf(bytes(text))).toBeUndefined();
});

test.each([
  ["PK\x03\x04\x14\0", "ZIP archive"],
  ["\x1f\x8b\x08", "gzip data"],
  ["\x7fELF\x02\x01\0", "ELF executable"],
  ["%PDF-1.7\n%\xe2\xe3", "PDF document"],
  ["SQLite format 3\0", "SQLite database"],
  ["\xff\xfeo\0n\0", "UTF-16LE text, BOM"],
  ["\xfe\xff\0o", "UTF-16BE text, BOM"],
  ["\xff\xfe\0\0o\0\0\0", "UTF-32LE text, BOM"],
  [`${"x".repeat(8191)}\0`, ""],
])("%j is not text: %s", (text, kind) => {
  expect(binaryKind(bytes(text))).toBe(kind);
});

test.each([
  "",
  "text",
  "BZh, as an author writes it",
  "%PDF-1.7 begins such a file",
  "MZ",
  "ID3 is a tag",
  "caf\xe9, in Latin-1",
  "\xef\xbb\xbfwith a mark",
  `${"x".repeat(8192)}\0`,
])("%j is text", (text) => {
  expect(binaryKind(bytes(text))).toBeUndefined();
  expect(encodingByMark(bytes(text))).toBeUndefined();
});
