/** The text of a file that a creation replaces: what is kept of its form, and what is lost. */
import { isUtf8 } from "node:buffer";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { encodeUtf8 } from "../../text/edits/text.ts";
import { markedEncoding } from "../../text/encodings/byte-order-mark.ts";
import { type Encoding, isUtf16 } from "../../text/encodings/codec.ts";
import { likelyEncodings, listEncodings } from "../../text/encodings/likely-encodings.ts";
import { decodeText } from "../../text/encodings/open-text.ts";
import { beginsAsUtf16 } from "../../text/encodings/search-text.ts";
import { unmarkedUtf16 } from "../../text/encodings/unmarked-utf16.ts";
import type { CoderContext } from "../define.ts";
import { configuredEncoding } from "../fields/file-encoding.ts";
import { describeLineEnds } from "../read-file/text-notes.ts";

/** The form of a text in its file. */
export interface TextForm {
  /** The encoding that a byte order mark names. */
  readonly marked: Encoding | undefined;
  /** Encodings that it may be in, if it is not UTF-8, has no mark, and the configuration names none. */
  readonly likely: readonly Encoding[];
  /** Its line ends, without their numbers; `undefined` for a text without any. */
  readonly lineEnds: string | undefined;
}

/** Returns the form of the content of the file at a path. */
export function textFormOf(bytes: Buffer, path: string, context: CoderContext): TextForm {
  const marked = markedEncoding(bytes);
  // Without an encoding, only UTF-16 is decoded, which is fast.
  const { text, endsInReturns } = runAtOnce(decodeText(bytes));
  const unmarked = unmarkedUtf16(bytes);
  const isUnicode = isUtf8(bytes) || beginsAsUtf16(bytes);
  const isKnown = marked !== undefined || configuredEncoding(path, context) !== undefined;
  const likely = unmarked === undefined ? (isUnicode ? [] : likelyEncodings(bytes)) : [unmarked];
  return {
    marked,
    likely: isKnown ? [] : likely,
    lineEnds: endsInReturns ? "CR" : lineEndsOf(text),
  };
}

/** Returns the kinds of line ends of a text; `undefined` for a text of one line. */
const lineEndsOf = (text: Buffer): string | undefined =>
  text.includes("\n") ? (describeLineEnds(text)?.replace(/ .*/, "") ?? "LF") : undefined;

/** Returns the byte order mark of UTF-8 if the file has one and the new content lacks it, or "". */
export const keptMark = (content: string, before: TextForm | undefined): string =>
  before?.marked === "utf-8" && !content.startsWith("\ufeff") ? "\ufeff" : "";

/** Returns the differences between a new content and the form of the file that it replaces. */
export function* notesOnReplaced(
  { content, encoding }: { readonly content: string; readonly encoding?: string | undefined },
  before: TextForm,
): Steps<string[]> {
  const text = yield* encodeUtf8(content);
  yield;
  const now = lineEndsOf(text);
  const [likely] = before.likely;
  const isReencoded = encoding === undefined && (isUtf16(likely) || text.length > content.length);
  const isMarkGone = before.marked === "utf-8" && encoding !== undefined && !content.startsWith("\ufeff");
  return [
    ...(keptMark(content, before) !== "" && encoding === undefined ? ["BOM kept"] : []),
    ...(isMarkGone ? ["the byte order mark is gone"] : []),
    ...(isUtf16(before.marked) && encoding !== undefined ? ["it was UTF-16 before"] : []),
    ...(likely !== undefined && likely !== "utf-8" && isReencoded
      ? [`UTF-8 now, which it was not before; "encoding": ${listEncodings(before.likely)} would keep it`]
      : []),
    ...(now !== undefined && before.lineEnds !== undefined && now !== before.lineEnds
      ? [`line ends are ${now} now, and were ${before.lineEnds}`]
      : []),
  ];
}
