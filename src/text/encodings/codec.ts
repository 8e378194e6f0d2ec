/** The encodings of the Encoding Standard that a file can be written in. */
import { isUtf8 } from "node:buffer";
import { labelToName, normalizeEncoding, TextDecoder } from "@exodus/bytes/encoding.js";
import { createMultibyteEncoder } from "@exodus/bytes/multi-byte.js";
import { createSinglebyteEncoder } from "@exodus/bytes/single-byte.js";
import { utf16fromString } from "@exodus/bytes/utf16.js";
import { joinInSteps } from "../../base/scheduling/join-bytes.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";

/** The name of an encoding in lower case, such as "windows-1252". */
export type Encoding = string;

const multibyte = new Set(["big5", "euc-jp", "euc-kr", "gb18030", "gbk", "iso-2022-jp", "shift_jis"]);

/** The code pages of Windows whose names are not labels of the standard. */
const codePages: Readonly<Record<string, string>> = {
  cp932: "shift_jis",
  cp936: "gbk",
  cp949: "euc-kr",
  cp950: "big5",
};

/**
 * Returns the encoding with this label, in any case, such as "latin1", "Shift_JIS" or "cp932". `undefined`
 * for an unknown label, and for the encoding `replacement`, which nothing can be written in.
 */
export function encodingWithLabel(label: string): Encoding | undefined {
  const name = normalizeEncoding(codePages[label.trim().toLowerCase()] ?? label) ?? undefined;
  return name === "replacement" ? undefined : name;
}

/** Returns the name of an encoding as the standard spells it, such as "UTF-16LE". */
export const encodingName = (encoding: Encoding): string => labelToName(encoding) ?? encoding;

/** Returns whether a character takes two or four bytes. */
export const isUtf16 = (encoding: Encoding | undefined): boolean =>
  encoding === "utf-16le" || encoding === "utf-16be";

/** Converts between bytes and texts. Neither has state from call to call. */
export interface Codec {
  readonly encoding: Encoding;
  /** Decodes bytes. U+FFFD replaces what is invalid, and a byte order mark stays. */
  decode(bytes: Uint8Array): string;
  /** Encodes a text. Throws a `TypeError` if the encoding lacks one of its characters. */
  encode(text: string): Uint8Array;
  /** Whether the parts of a text are encoded otherwise by themselves than in the whole. */
  readonly isStateful: boolean;
}

export function createCodec(encoding: Encoding): Codec {
  const decoder = new TextDecoder(encoding as "utf-8", { ignoreBOM: true });
  return {
    encoding,
    decode: (bytes) => decoder.decode(bytes),
    encode: encoderFor(encoding),
    isStateful: encoding === "iso-2022-jp",
  };
}

/** Bytes that are decoded in one step, which takes a millisecond or two. */
const bytesPerStep = 128 * 1024;

/** Decodes bytes to UTF-8, like `Codec.decode`, in steps. */
export function* decodeInSteps(bytes: Buffer, encoding: Encoding): Steps<Buffer> {
  const decoder = new TextDecoder(encoding as "utf-8", { ignoreBOM: true });
  const pieces: Buffer[] = [];
  for (let from = 0; from < bytes.length; from += bytesPerStep) {
    pieces.push(Buffer.from(decoder.decode(bytes.subarray(from, from + bytesPerStep), { stream: true })));
    yield;
  }
  pieces.push(Buffer.from(decoder.decode()));
  return yield* joinInSteps(pieces);
}

/** Returns bytes as valid UTF-8, in steps: themselves if they are. U+FFFD replaces what is invalid. */
export function* validUtf8(bytes: Buffer): Steps<Buffer> {
  return isUtf8(bytes) ? bytes : yield* decodeInSteps(bytes, "utf-8");
}

/** Decodes a text that comes in pieces, like `Codec.decode`. U+FFFD replaces what is invalid. */
export async function* decodePieces(
  pieces: AsyncIterable<Uint8Array>,
  encoding: Encoding,
): AsyncGenerator<Buffer> {
  const decoder = new TextDecoder(encoding as "utf-8", { ignoreBOM: true });
  for await (const piece of pieces) yield Buffer.from(decoder.decode(piece, { stream: true }));
  yield Buffer.from(decoder.decode());
}

function encoderFor(encoding: Encoding): Codec["encode"] {
  if (encoding === "utf-8") return (text) => Buffer.from(text);
  if (encoding === "utf-16le") return (text) => utf16fromString(text, "uint8-le");
  if (encoding === "utf-16be") return (text) => utf16fromString(text, "uint8-be");
  return multibyte.has(encoding) ? createMultibyteEncoder(encoding) : createSinglebyteEncoder(encoding);
}
