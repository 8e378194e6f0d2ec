/** The encodings of files in requests, or by their paths. */

import { posix } from "node:path";
import { Type } from "@sinclair/typebox";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { decodeText } from "../../text/encodings/open-text.ts";
import type { CoderContext } from "../define.ts";

/** The field for the encoding of a file without a byte order mark. */
export const FileEncoding = () =>
  Type.Optional(
    Type.String({
      since: "0.4.0",
      isRare: true,
      description: "Of a file without a byte order mark, such as `windows-1252` or `shift_jis`.",
    }),
  );

/** Entries that are converted in one step. */
const entriesPerStep = 4096;

/**
 * Returns a payload without the encodings of entries that `isOwn` does not know: 0.2.0 has no such field, and
 * ignores it.
 */
export function* withoutForeignEncodings(
  payload: unknown,
  isOwn: (encoding: unknown) => boolean,
): Steps<unknown> {
  const files = (payload as { readonly files?: unknown } | null)?.files;
  if (!Array.isArray(files)) return payload;
  const own: unknown[] = [];
  for (const entry of files) {
    own.push(withoutForeignEncoding(entry, isOwn));
    if (own.length % entriesPerStep === 0) yield;
  }
  return { ...(payload as object), files: own };
}

function withoutForeignEncoding(entry: unknown, isOwn: (encoding: unknown) => boolean): unknown {
  if (typeof entry !== "object" || entry === null || !("encoding" in entry)) return entry;
  const { encoding, ...rest } = entry;
  return isOwn(encoding) ? entry : rest;
}

/** The sentence about "base64", a value that is not an encoding, for functions that accept it. */
export const base64Sentence = 'For exact bytes send "base64".';

/** Returns the encoding that the configuration gives a file, or none in the profile contract. */
export function configuredEncoding(
  path: string,
  { profile, encodings, jail }: Pick<CoderContext, "profile" | "encodings" | "jail">,
): Encoding | undefined {
  if (!profile.keeps_line_ends || encodings.rules.length === 0) return undefined;
  return encodings.of(canonicalPath(path, jail));
}

/**
 * Returns the text of a file as a read with the same `encoding` shows it, in UTF-8, in steps. In the profile
 * contract its bytes are the text.
 */
export function* shownText(
  bytes: Buffer,
  { path, encoding }: { readonly path: string; readonly encoding?: Encoding | undefined },
  context: CoderContext,
): Steps<Buffer> {
  if (!context.profile.keeps_line_ends && encoding === undefined) return bytes;
  return (yield* decodeText(bytes, encoding ?? configuredEncoding(path, context))).text;
}

/** Returns the path of a file from the base; that of a missing one is the path of the request. */
function canonicalPath(path: string, jail: CoderContext["jail"]): string {
  try {
    using place = jail.admit(path);
    return place.path;
  } catch {
    return posix.normalize(path);
  }
}
