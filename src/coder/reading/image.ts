/** Images that models see: which files are some, and how large one may be. */

/** A kind of image by the bytes that its files begin with, each at its offset. */
interface Signature {
  readonly mediaType: string;
  readonly parts: readonly (readonly [offset: number, bytes: Buffer])[];
}

const latin1 = (text: string): Buffer => Buffer.from(text, "latin1");

/** PNG (W3C PNG, 5.2), JPEG (ITU T.81, B.1.1.3), GIF (GIF89a, 17) and WebP (RFC 9649, 2.4): what all clients can show. */
const signatures: readonly Signature[] = [
  { mediaType: "image/png", parts: [[0, latin1("\x89PNG\r\n\x1a\n")]] },
  { mediaType: "image/jpeg", parts: [[0, latin1("\xff\xd8\xff")]] },
  { mediaType: "image/gif", parts: [[0, latin1("GIF87a")]] },
  { mediaType: "image/gif", parts: [[0, latin1("GIF89a")]] },
  {
    mediaType: "image/webp",
    parts: [
      [0, latin1("RIFF")],
      [8, latin1("WEBP")],
    ],
  },
];

/** The media type of an image, by its first bytes and not by its name; undefined for any other file. */
export function imageType(bytes: Buffer): string | undefined {
  const isAt = ([offset, part]: Signature["parts"][number]) =>
    bytes.subarray(offset, offset + part.length).equals(part);
  return signatures.find(({ parts }) => parts.every(isAt))?.mediaType;
}

/**
 * Most bytes of an image in base64. Anthropic's API takes no larger one, and refuses from then on every request that has
 * it in its history; other providers take more.
 */
export const maxImageBytes = 5 * 1024 * 1024;
