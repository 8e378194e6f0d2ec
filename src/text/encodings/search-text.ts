/** The text of a file as searches see it: UTF-8 after the byte order mark, with lines that end in LF. */
import { markedEncoding } from "./byte-order-mark.ts";
import { type Codec, createCodec, type Encoding } from "./codec.ts";
import { encodingOfFile } from "./file-encoding.ts";
import { dropReturnsInPlace, endsLinesInReturns, swapBytes } from "./line-ends.ts";

export interface SearchTextOptions {
  /** The encoding of files without a byte order mark. Default: UTF-8, and invalid bytes stay. */
  readonly encoding?: Encoding | undefined;
  /** Whether to drop "\r" before "\n", for matches over lines. */
  readonly dropsReturns: boolean;
}

const codecs = new Map<Encoding, Codec>();

/**
 * Returns the text of the file `buffer[0, size)`: a part of it, which it may change in place, or new bytes.
 * `undefined` if the bytes are the text.
 */
export function searchText(
  buffer: Buffer,
  size: number,
  { encoding, dropsReturns }: SearchTextOptions,
): Buffer | undefined {
  // Nearly all files, without an object for each.
  if (encoding === undefined && !dropsReturns && beginsNoMark(buffer[0]!)) {
    const feed = buffer.indexOf(0x0a);
    if (feed >= 0 && feed < size) return undefined;
  }
  const text = decode(buffer.subarray(0, size), encoding);
  if (endsLinesInReturns(text)) swapBytes(text, 0x0d, 0x0a);
  return dropsReturns ? dropReturnsInPlace(text) : text;
}

/** Returns whether no byte order mark begins with the byte. */
export const beginsNoMark = (byte: number): boolean => byte < 0xfe && byte !== 0xef;

function decode(file: Buffer, encoding: Encoding | undefined): Buffer {
  const marked = markedEncoding(file);
  if (marked === "utf-8") return file.subarray(3);
  const actual = encodingOfFile(file, encoding);
  if (actual === "utf-8") return file;
  let codec = codecs.get(actual);
  if (codec === undefined) {
    codec = createCodec(actual);
    codecs.set(actual, codec);
  }
  const text = codec.decode(file);
  return Buffer.from(marked === undefined ? text : text.slice(1));
}

/** Returns whether a file that begins with these bytes is text in UTF-16, whose bytes include NUL. */
export function beginsAsUtf16(bytes: Uint8Array): boolean {
  const marked = markedEncoding(bytes);
  return marked === "utf-16le" || marked === "utf-16be";
}
