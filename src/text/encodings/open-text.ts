/** Opens the bytes of a file as the text that edits see, and writes that back in the form of the file. */
import { inOneStep, type Steps } from "../../base/scheduling/time-slice.ts";
import { decodeInSteps, type Encoding } from "./codec.ts";
import { EncodedText } from "./encoded-text.ts";
import { encodingOfFile } from "./file-encoding.ts";
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
   * Returns the bytes of the file after edits of the text, in steps. Throws a `MissingCharacter` or a
   * `DamagedLine`.
   */
  bytesOf(edited: Pieces): Steps<Pieces>;
}

/** Opens a file to read, in steps. U+FFFD replaces what is invalid in its encoding. */
export function* decodeText(bytes: Buffer, encoding?: Encoding): Steps<Omit<OpenedText, "bytesOf">> {
  const actual = encodingOfFile(bytes, encoding);
  const isUtf8 = actual === "utf-8";
  const text = isUtf8 ? bytes : yield* decodeInSteps(bytes, actual);
  const endsInReturns = endsLinesInReturns(text);
  return {
    text: endsInReturns ? yield* withOtherEnds(text, "LF") : text,
    encoding: isUtf8 ? undefined : actual,
    endsInReturns,
  };
}

/** Opens a file to edit, in steps. `encoding` is that of the call (`encodingOfFile`). */
export function* openText(bytes: Buffer, encoding?: Encoding): Steps<OpenedText> {
  const actual = encodingOfFile(bytes, encoding);
  const encoded = actual === "utf-8" ? undefined : yield* EncodedText.decode(bytes, actual);
  const decoded = encoded?.text ?? bytes;
  const endsInReturns = endsLinesInReturns(decoded);
  const text = endsInReturns ? yield* withOtherEnds(decoded, "LF") : decoded;
  if (encoded === undefined && !endsInReturns)
    return { text, encoding: undefined, endsInReturns, bytesOf: (edited) => inOneStep(() => edited) };
  return {
    text,
    encoding: encoded && actual,
    endsInReturns,
    *bytesOf(edited) {
      const whole = Buffer.concat(edited);
      const ended = endsInReturns ? yield* withOtherEnds(whole, "CR") : whole;
      return [encoded === undefined ? ended : yield* encoded.bytesOf(ended)];
    },
  };
}
