/** The encoding of the content of a new file. */
import { Type } from "@sinclair/typebox";
import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { encodeUtf8 } from "../../text/edits/text.ts";
import { createCodec, type Encoding, encodingName, isUtf16 } from "../../text/encodings/codec.ts";
import { encodeText, MissingCharacter } from "../../text/encodings/encoded-text.ts";
import { refuseEncoding } from "../../text/encodings/encoding-errors.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { base64Sentence, configuredEncoding } from "../fields/file-encoding.ts";

export const ContentEncoding = Type.Optional(
  Type.String({
    since: "0.4.0",
    description: "`base64`: `content` is exact bytes. Else the file's own.",
  }),
);

/** Returns whether a creation in the profile contract takes this encoding. */
export const isEncodingOfContent = (encoding: unknown): boolean =>
  encoding === "base64" || encoding === "text";

/** A content, and the properties of its file. */
interface Content {
  readonly path: string;
  readonly content: string;
  readonly encoding?: string;
}

/** The bytes of a content. */
export interface EncodedContent {
  readonly bytes: Buffer;
  /** The name of the encoding of a text that is not in UTF-8. */
  readonly encoding?: string;
}

/**
 * Encodes a content, in steps: from base64 (RFC 4648, line breaks allowed), or a text to the encoding of the
 * request, else `kept`, else that of the configuration, with a byte order mark in UTF-16. Throws bad-input
 * for what is not base64, and for a character that the encoding lacks.
 */
export function* bytesOfContent(
  { path, content, encoding: sent }: Content,
  kept: Encoding | undefined,
  context: CoderContext,
): Steps<EncodedContent> {
  if (sent === "base64") return { bytes: yield* fromBase64(content) };
  const requested = requestedEncoding(sent === "text" ? undefined : sent, base64Sentence);
  const encoding = requested ?? kept ?? configuredEncoding(path, context);
  if (encoding === undefined || encoding === "utf-8") return { bytes: yield* encodeUtf8(content) };
  const text = isUtf16(encoding) && !content.startsWith("\ufeff") ? `\ufeff${content}` : content;
  try {
    const bytes = Buffer.from(yield* encodeText(createCodec(encoding), text));
    return { bytes, encoding: encodingName(encoding) };
  } catch (error) {
    if (!(error instanceof MissingCharacter)) throw error;
    throw refuseEncoding.missingCharacter(path, encodingName(encoding), error.character);
  }
}

function* fromBase64(content: string): Steps<Buffer> {
  const text = yield* withoutBreaks(content);
  const wrong = yield* findNoBase64(text);
  if (wrong !== undefined)
    throw refuseCoder.badBase64(`holds ${JSON.stringify(text[wrong])} at character ${wrong + 1}`);
  if (text.length % 4 !== 0)
    throw refuseCoder.badBase64(`has ${text.length} characters, which is not a multiple of 4`);
  const decoded: Buffer[] = [];
  // The pieces of ASCII have a multiple of four characters, apart from the last one.
  for (const piece of piecesOf(text)) {
    decoded.push(Buffer.from(piece, "base64"));
    yield;
  }
  return decoded.length === 1 ? decoded[0]! : Buffer.concat(decoded);
}

/** Removes the line breaks of a text. One without any is not copied. */
function* withoutBreaks(content: string): Steps<string> {
  if (!content.includes("\n") && !content.includes("\r")) return content;
  let text = "";
  for (const piece of piecesOf(content)) {
    text += piece.replaceAll(/[\r\n]/g, "");
    yield;
  }
  return text;
}

/** Returns the index of the first character that base64 does not have there, if any. */
function* findNoBase64(text: string): Steps<number | undefined> {
  const end = text.length - /={0,2}$/.exec(text.slice(-2))![0].length;
  let from = 0;
  for (const piece of piecesOf(text)) {
    const wrong = /[^A-Za-z0-9+/]/.exec(piece);
    if (wrong !== null) return from + wrong.index < end ? from + wrong.index : undefined;
    from += piece.length;
    yield;
  }
  return undefined;
}

/** Renders the encoding of a new file that is not in UTF-8, and how to get UTF-8 if `sent` names none. */
export function renderEncoding(
  encoding: string | undefined,
  sent: { readonly encoding?: unknown } | undefined,
): string {
  if (encoding === undefined) return "";
  const mark = encoding.startsWith("UTF-16") ? " with a byte order mark" : "";
  const isOwn = sent !== undefined && typeof sent.encoding !== "string";
  return `, in ${encoding}${mark}${isOwn ? ' (encoding: "utf-8" for UTF-8)' : ""}`;
}
