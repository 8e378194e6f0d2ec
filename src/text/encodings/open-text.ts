/** Opens the bytes of a file as the text that edits see, and writes that back in the form of the file. */
import { markedEncoding } from "./byte-order-mark.ts";
import { createCodec, type Encoding } from "./codec.ts";
import { EncodedText } from "./encoded-text.ts";
import { endsLinesInReturns, withOtherEnds } from "./line-ends.ts";

/** A text in pieces that follow each other. */
type Pieces = readonly Buffer[];

/** The text of a file: in UTF-8, and with LF if its lines end in CR. */
export interface OpenedText {
  readonly text: Buffer;
  /** The encoding, unless it is UTF-8 or unknown. */
  readonly encoding: Encoding | undefined;
  /** Whether the lines of the file end in CR. */
  readonly endsInReturns: boolean;
  /**
   * Returns the bytes of the file after edits of the text. Throws a `MissingCharacter` or a `DamagedLine`.
   */
  bytesOf(edited: Pieces): Pieces;
}

/** Opens a file to read. U+FFFD replaces what is invalid in its encoding. */
export function decodeText(bytes: Buffer, encoding?: Encoding): Omit<OpenedText, "bytesOf"> {
  const actual = markedEncoding(bytes) ?? encoding ?? "utf-8";
  const isUtf8 = actual === "utf-8";
  const text = isUtf8 ? bytes : Buffer.from(createCodec(actual).decode(bytes));
  const endsInReturns = endsLinesInReturns(text);
  return {
    text: endsInReturns ? withOtherEnds(text, "LF") : text,
    encoding: isUtf8 ? undefined : actual,
    endsInReturns,
  };
}

/** Opens a file to edit. `encoding` holds unless the file has a byte order mark. */
export function openText(bytes: Buffer, encoding?: Encoding): OpenedText {
  const actual = markedEncoding(bytes) ?? encoding ?? "utf-8";
  const encoded = actual === "utf-8" ? undefined : new EncodedText(bytes, actual);
  const decoded = encoded?.text ?? bytes;
  const endsInReturns = endsLinesInReturns(decoded);
  const text = endsInReturns ? withOtherEnds(decoded, "LF") : decoded;
  if (encoded === undefined && !endsInReturns)
    return { text, encoding: undefined, endsInReturns, bytesOf: (edited) => edited };
  return {
    text,
    encoding: encoded && actual,
    endsInReturns,
    bytesOf(edited) {
      const whole = Buffer.concat(edited);
      const ended = endsInReturns ? withOtherEnds(whole, "CR") : whole;
      return [encoded?.bytesOf(ended.toString()) ?? ended];
    },
  };
}
