/** Refusals of files whose encoding is unknown, or that are too large to be decoded. */
import { quoteShort, Refusal } from "../../base/errors.ts";
import type { Encoding } from "../../text/encodings/codec.ts";
import { showCharacter } from "../../text/encodings/encoding-errors.ts";
import { listEncodings, nameEncodings } from "../../text/encodings/likely-encodings.ts";

export const refuseFileEncoding = {
  unknownEncoding: (path: string, character: string, likely: readonly Encoding[]): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so its encoding is unknown, and the new text has ${
        character === "\ufffd"
          ? "U+FFFD, which stands for bytes that could not be shown"
          : `${showCharacter(character)}, which is not ASCII`
      }. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": ${listEncodings(likely)}, or send ASCII only.`,
      path,
    ),

  lostBytes: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} has bytes that are not UTF-8, and the new text has U+FFFD, which stands for such bytes and would replace them. Nothing was changed. Send only the part of the line that changes.`,
      path,
    ),

  splitCharacter: (path: string, encodings: readonly Encoding[]): Refusal =>
    new Refusal(
      "bad-input",
      `A match in ${quoteShort(path)} may be a part of a character: nothing names the encoding of the file, and it may be ${nameEncodings(encodings)}, where the text is found less often. Nothing was changed. Read the file with "encoding": ${listEncodings(encodings)} to see whether that is right, and repeat the call with the encoding of the file, or with "utf-8" if the bytes are meant as they are.`,
      path,
    ),

  tooLarge: (path: string, encoding: string): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} is larger than max_read_bytes, and no lines of such a file are read or searched in ${encoding}. Ask the user to raise the limit.`,
      path,
    ),

  undecodable: (path: string, likely: readonly Encoding[]): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so a pattern has no text to match. Nothing was changed. ${
        likely[0] === "utf-8"
          ? "It is UTF-8 but for a few bytes: use"
          : `Repeat the call with the encoding of the file, such as "encoding": ${listEncodings(likely)}, or use`
      } line ops and str_replace, which leave all other bytes alone.`,
      path,
    ),

  invalidUtf8: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} has bytes that are not UTF-8, so a pattern has no text to match. Nothing was changed. Use line ops and str_replace, which leave all other bytes alone.`,
      path,
    ),
} as const;
