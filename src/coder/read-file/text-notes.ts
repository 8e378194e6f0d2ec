/**
 * The differences between a text and plain text, which is UTF-8 without a byte order mark and ends each line
 * in LF.
 */
import { isUtf8 } from "node:buffer";
import { countLineEnds } from "../../text/edits/lines.ts";
import { type Encoding, encodingName, isUtf16 } from "../../text/encodings/codec.ts";

const [lf, cr] = [0x0a, 0x0d];

/** The form of a text in its file. */
interface TextForm {
  /** Whether the text includes the end of the file. */
  readonly isAtEnd: boolean;
  /** The name of the encoding of a decoded text. */
  readonly encoding?: string | undefined;
  /** Whether its lines end in CR in the file. Default: false. */
  readonly endsInReturns?: boolean;
}

/** Returns notes on the form of a text, or of the part that is shown. */
export function notesOn(text: Buffer, { isAtEnd, encoding, endsInReturns = false }: TextForm): string[] {
  if (text.length === 0) return [];
  const lineEnds = endsInReturns ? "CR" : describeLineEnds(text);
  const isWhole = text.at(-1) === lf || (lineEnds === "CR" && text.at(-1) === cr);
  return [
    ...encodingNotes(text, encoding),
    ...(lineEnds === undefined ? [] : [lineEnds]),
    ...(isAtEnd && !isWhole ? [noLastNewline] : []),
  ];
}

/** Returns the notes on an edited text, except that on its line ends. */
export function notesOnEdited(text: Buffer, encoding: string | undefined): string[] {
  const isWhole = text.length === 0 || text.at(-1) === lf;
  return [
    ...encodingNotes(text, encoding),
    ...(isUtf8(text) ? [] : ["U+FFFD stands for bytes that are not UTF-8"]),
    ...(isWhole ? [] : [noLastNewline]),
  ];
}

/** Returns a note if a file is not in the encoding that the request names. `used` is undefined for UTF-8. */
export function notesOnUnused(
  requested: Encoding | undefined,
  used: string | undefined,
  text: Buffer,
): string[] {
  if (requested === undefined || requested === "utf-8" || used !== undefined) return [];
  const why = isUtf16(requested) ? "no line end has a NUL" : "the file is valid UTF-8";
  return text.length === 0 ? [] : [`${encodingName(requested)} is not used: ${why}`];
}

const noLastNewline = "no newline at the end";

function encodingNotes(text: Buffer, encoding: string | undefined): string[] {
  const hasMark = text[0] === 0xef && text[1] === 0xbb && text[2] === 0xbf;
  const form = [...(encoding === undefined ? [] : [encoding]), ...(hasMark ? ["BOM"] : [])];
  return form.length > 0 ? [form.join(", ")] : [];
}

/**
 * Returns the line ends of a text that has others than LF: `CRLF`, `CR`, or the number of lines with each.
 */
export function describeLineEnds(text: Buffer): string | undefined {
  if (!text.includes(cr)) return undefined;
  const { feeds: all, crlf } = countLineEnds(text);
  if (all === 0) return "CR";
  if (crlf === 0) return undefined;
  return crlf === all ? "CRLF" : `mixed line ends: ${crlf} CRLF, ${all - crlf} LF`;
}
