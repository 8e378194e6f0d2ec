import { expect, test } from "bun:test";
import { unmarkedUtf16 } from "./unmarked-utf16.ts";

const little = (text: string) => Buffer.from(text, "utf16le");
const big = (text: string) => little(text).swap16();

test.each([
  "ab",
  "née\r\n",
  "one\ttwo\n".repeat(2000),
  "слово and word, and so on\n",
  "日本 abc\n",
  "上上 abc\n",
])("%j without a byte order mark is recognized in both forms", (text) => {
  expect(unmarkedUtf16(little(text))).toBe("utf-16le");
  expect(unmarkedUtf16(big(text))).toBe("utf-16be");
});

test.each([
  ["nothing", Buffer.from("")],
  ["one character", little("a")],
  ["text in UTF-8", Buffer.from("née\n")],
  ["text with one NUL", Buffer.from("abc\0def, and more of it\n")],
  ["UTF-16 with a byte order mark", little("\ufefftext\n")],
  ["an odd number of bytes", Buffer.from("a\0b\0c")],
  ["NULs in both bytes", Buffer.from("a\0b\0\0c")],
  ["control characters", Buffer.from("\x01\0\x02\0")],
  ["a short text with a NUL", Buffer.from("a\0b\nc\n")],
  ["text whose first NUL is late", Buffer.from(`${"x".repeat(8192)}\0y`)],
])("%s is not taken for it", (_, bytes) => {
  expect(unmarkedUtf16(bytes)).toBeUndefined();
});
