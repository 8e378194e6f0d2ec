/** The encoding of the content of a new file. */
import { Type } from "@sinclair/typebox";
import { refuseCoder } from "../errors.ts";

export const ContentEncoding = Type.Optional(
  Type.Union([Type.Literal("text"), Type.Literal("base64")], {
    since: "0.4.0",
    description: "`base64`: `content` has exact bytes.",
  }),
);

/** Returns a payload without encodings of entries that 0.2.0 ignores, as it has no such field. */
export function withoutForeignEncodings(payload: unknown): unknown {
  const files = (payload as { readonly files?: unknown } | null)?.files;
  if (!Array.isArray(files)) return payload;
  return { ...(payload as object), files: files.map(withoutForeignEncoding) };
}

function withoutForeignEncoding(entry: unknown): unknown {
  if (typeof entry !== "object" || entry === null || !("encoding" in entry)) return entry;
  const { encoding, ...rest } = entry;
  return encoding === "base64" || encoding === "text" ? entry : rest;
}

/** Returns the bytes of a content. Throws bad-input for what is not base64 (RFC 4648, line breaks allowed). */
export function contentBytes({
  content,
  encoding,
}: {
  readonly content: string;
  readonly encoding?: string;
}): Buffer {
  if (encoding !== "base64") return Buffer.from(content);
  const text = content.replaceAll(/[\r\n]/g, "");
  const wrong = /[^A-Za-z0-9+/=]|=(?!=?$)/.exec(text);
  if (wrong !== null)
    throw refuseCoder.badBase64(`holds ${JSON.stringify(wrong[0])} at character ${wrong.index + 1}`);
  if (text.length % 4 !== 0)
    throw refuseCoder.badBase64(`has ${text.length} characters, which is not a multiple of 4`);
  return Buffer.from(text, "base64");
}
