/** Determines the kind of a file that is not text, by its first bytes and not by its name. */
import { isUtf8 } from "node:buffer";
import { encodingName } from "../../text/encodings/codec.ts";
import { unmarkedUtf16 } from "../../text/encodings/unmarked-utf16.ts";

/** A kind of file, and the bytes that its files begin with, each part at its offset. */
interface Signature {
  readonly name: string;
  /** The media type, if clients can show or play such files. */
  readonly mediaType?: string;
  readonly parts: readonly (readonly [offset: number, bytes: Buffer])[];
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

const signature = (name: string, begin: string, mediaType?: string): Signature => ({
  name,
  ...(mediaType !== undefined && { mediaType }),
  parts: [[0, latin1(begin)]],
});

const riff = (name: string, form: string, mediaType: string): Signature => ({
  name,
  mediaType,
  parts: [
    [0, latin1("RIFF")],
    [8, latin1(form)],
  ],
});

/**
 * PNG (W3C PNG, 5.2), JPEG (ITU T.81, B.1.1.3), GIF (GIF89a, 17) and WebP (RFC 9649, 2.4): what all clients
 * can show.
 */
const images: readonly Signature[] = [
  signature("PNG image", "\x89PNG\r\n\x1a\n", "image/png"),
  signature("JPEG image", "\xff\xd8\xff", "image/jpeg"),
  signature("GIF image", "GIF87a", "image/gif"),
  signature("GIF image", "GIF89a", "image/gif"),
  riff("WebP image", "WEBP", "image/webp"),
];

const sounds: readonly Signature[] = [
  riff("WAV audio", "WAVE", "audio/wav"),
  signature("MP3 audio", "ID3", "audio/mpeg"),
  signature("MP3 audio", "\xff\xfb", "audio/mpeg"),
  signature("Ogg audio", "OggS", "audio/ogg"),
  signature("FLAC audio", "fLaC", "audio/flac"),
];

/** Names as file(1) has them, shortened. */
const others: readonly Signature[] = [
  signature("ZIP archive", "PK\x03\x04"),
  signature("ZIP archive", "PK\x05\x06"),
  signature("gzip data", "\x1f\x8b"),
  signature("bzip2 data", "BZh"),
  signature("XZ data", "\xfd7zXZ\0"),
  signature("Zstandard data", "\x28\xb5\x2f\xfd"),
  signature("7-zip archive", "7z\xbc\xaf\x27\x1c"),
  { name: "tar archive", parts: [[257, latin1("ustar")]] },
  signature("PDF document", "%PDF-"),
  signature("ELF executable", "\x7fELF"),
  signature("Windows executable", "MZ"),
  signature("Mach-O executable", "\xcf\xfa\xed\xfe"),
  signature("Mach-O executable", "\xca\xfe\xba\xbe\0\0\0\x02"),
  signature("Java class", "\xca\xfe\xba\xbe"),
  signature("WebAssembly module", "\0asm"),
  signature("SQLite database", "SQLite format 3\0"),
  signature("WOFF font", "wOFF"),
  signature("WOFF2 font", "wOF2"),
  signature("TrueType font", "\0\x01\0\0\0"),
  signature("OpenType font", "OTTO"),
  signature("TIFF image", "II*\0"),
  signature("TIFF image", "MM\0*"),
  signature("icon", "\0\0\x01\0"),
  signature("BMP image", "BM"),
  { name: "MP4 media", parts: [[4, latin1("ftyp")]] },
  signature("git index", "DIRC"),
  signature("git pack", "PACK"),
  signature("Python bytecode", "\x6f\x0d\x0d\x0a"),
];

const signatures = [...images, ...sounds, ...others];

/** Bytes at the beginning of a file that are searched for NUL. */
const headBytes = 8 * 1024;

const byteOrderMarks: readonly (readonly [encoding: string, mark: Buffer])[] = [
  ["UTF-32LE", latin1("\xff\xfe\0\0")],
  ["UTF-32BE", latin1("\0\0\xfe\xff")],
  ["UTF-16LE", latin1("\xff\xfe")],
  ["UTF-16BE", latin1("\xfe\xff")],
];

/** Returns the encoding that the byte order mark of a file indicates, other than UTF-8. */
export function encodingByMark(file: Uint8Array): string | undefined {
  return byteOrderMarks.find(([, mark]) => mark.equals(file.subarray(0, mark.length)))?.[0];
}

/**
 * Returns the kind of a file that is not shown as text: the name of a known kind, the encoding of its text,
 * or "" for an unknown kind. Returns `undefined` for a file that is shown as text, without a NUL at the
 * beginning and without a known signature.
 */
export function binaryKind(file: Buffer): string | undefined {
  const encoding = encodingByMark(file);
  if (encoding !== undefined) return `${encoding} text, BOM`;
  const hasNul = file.subarray(0, headBytes).includes(0);
  const known = signatureOf(file);
  if (!hasNul && (known === undefined || isUtf8(file))) return undefined;
  if (known !== undefined) return known.name;
  const unmarked = unmarkedUtf16(file);
  return unmarked === undefined ? "" : `${encodingName(unmarked)}${withoutMark}`;
}

const withoutMark = " text, no BOM";

/** Returns the encoding to send for the text of a file of this kind, if any. */
export const encodingOfKind = (kind: string): string | undefined =>
  kind.endsWith(withoutMark) ? kind.slice(0, -withoutMark.length).toLowerCase() : undefined;

/** Returns the media type of an image or sound; `undefined` for any other file. */
export const mediaTypeOf = (file: Buffer): string | undefined => signatureOf(file)?.mediaType;

const signatureOf = (file: Buffer): Signature | undefined =>
  signatures.find(({ parts }) =>
    parts.every(([offset, part]) => file.subarray(offset, offset + part.length).equals(part)),
  );

/**
 * The maximum size of an image in base64. Anthropic's API takes no larger one, and refuses from then on every
 * request that has it in its history; other providers take more.
 */
export const maxImageBytes = 5 * 1024 * 1024;

/** The maximum pixels on a side of an image. Anthropic's API refuses more like it refuses too many bytes. */
export const maxImageSide = 8000;
