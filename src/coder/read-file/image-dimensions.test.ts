import { expect, test } from "bun:test";
import { dimensionsOf } from "./image-dimensions.ts";

const bytes = (text: string) => Buffer.from(text, "latin1");
const padded = (text: string) => Buffer.concat([bytes(text), Buffer.alloc(16)]);

/** Beginnings of JPEG files: a segment, and a frame of 3 × 515 pixels. */
const app = "\xff\xe0\0\x04ab";
const frame = "\0\x11\x08\x02\x03\0\x03\x03";

test.each([
  ["PNG", "image/png", "\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\0\x02\x03\0\0\0\x05", [515, 5]],
  ["GIF", "image/gif", "GIF89a\x03\x02\x05\0", [515, 5]],
  ["WebP, extended", "image/webp", "RIFF\0\0\0\0WEBPVP8X\x0a\0\0\0\0\0\0\0\x02\x02\0\x04\0\0", [515, 5]],
  ["WebP, lossless", "image/webp", "RIFF\0\0\0\0WEBPVP8L\x0a\0\0\0\x2f\x02\x02\x01\0", [515, 5]],
  ["WebP, lossy", "image/webp", "RIFF\0\0\0\0WEBPVP8 \x0a\0\0\0\0\0\0\x9d\x01\x2a\x03\x02\x05\0", [515, 5]],
  ["JPEG", "image/jpeg", `\xff\xd8${app}\xff\xc0${frame}`, [3, 515]],
  [
    "JPEG, progressive, after a table and fill bytes",
    "image/jpeg",
    `\xff\xd8\xff\xc4\0\x02\xff\xff\xc2${frame}`,
    [3, 515],
  ],
])("%s", (_, type, begin, [width, height]) => {
  expect(dimensionsOf(padded(begin), type)).toEqual({ width: width!, height: height! });
});

test.each([
  ["a PNG without its header", "image/png", bytes("\x89PNG\r\n\x1a\n")],
  ["a GIF that is cut", "image/gif", bytes("GIF89a\x01")],
  ["a WebP of another kind", "image/webp", padded("RIFF\0\0\0\0WEBPABCD")],
  ["a JPEG without a frame", "image/jpeg", padded(`\xff\xd8${app}`)],
  ["a JPEG with a segment that ends after it", "image/jpeg", bytes("\xff\xd8\xff\xe0\xff\xff\0\0\0\0\0\0")],
  ["a JPEG of fill bytes", "image/jpeg", Buffer.concat([bytes("\xff\xd8"), Buffer.alloc(5_000_000, 0xff)])],
  [
    "a JPEG of a million segments",
    "image/jpeg",
    Buffer.concat([bytes("\xff\xd8"), Buffer.alloc(4_000_000, bytes("\xff\xe0\0\x02"))]),
  ],
  ["another kind", "image/tiff", padded("II*\0")],
])("%s has no dimensions", (_, type, image) => {
  expect(dimensionsOf(image, type)).toBeUndefined();
});
