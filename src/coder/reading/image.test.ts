import { expect, test } from "bun:test";
import { imageType } from "./image.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");

test.each([
  ["\x89PNG\r\n\x1a\n\0\0\0\rIHDR", "image/png"],
  ["\xff\xd8\xff\xe0\0\x10JFIF", "image/jpeg"],
  ["\xff\xd8\xff", "image/jpeg"],
  ["GIF87a", "image/gif"],
  ["GIF89a;", "image/gif"],
  ["RIFF\0\0\0\0WEBPVP8 ", "image/webp"],
])("%j is %s", (text, type) => {
  expect(imageType(bytes(text))).toBe(type);
});

test.each([
  "",
  "\x89PNG",
  "PNG\r\n\x1a\n",
  "\xff\xd8",
  "GIF88a",
  "RIFF\0\0\0\0WAVE",
  "RIFFWEBP",
  "BM",
  "<svg/>",
  "%PDF",
])("%j is no image that is shown", (text) => {
  expect(imageType(bytes(text))).toBeUndefined();
});
