/** Refusals of files whose encoding is unknown, or that are too large to be decoded. */
import { quoteShort, Refusal } from "../../base/errors.ts";
import { type Encoding, encodingName } from "../../text/encodings/codec.ts";
import { showCharacter } from "../../text/encodings/encoding-errors.ts";

export const refuseFileEncoding = {
  unknownEncoding: (path: string, character: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so its encoding is unknown, and the new text has ${
        character === "\ufffd"
          ? "U+FFFD, which stands for bytes that could not be shown"
          : `${showCharacter(character)}, which is not ASCII`
      }. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "windows-1252", or send ASCII only.`,
      path,
    ),

  splitCharacter: (path: string, encoding: Encoding): Refusal =>
    new Refusal(
      "bad-input",
      `A match in ${quoteShort(path)} may be the second byte of a character: the file is not UTF-8, has no byte order mark, and is valid as ${encodingName(encoding)}, where the text does not occur as often. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "${encoding}", or with "encoding": "utf-8" if it is UTF-8 with invalid bytes.`,
      path,
    ),

  tooLarge: (path: string, encoding: string): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} is larger than max_read_bytes, and no lines of such a file are read or searched in ${encoding}. Ask the user to raise the limit.`,
      path,
    ),

  undecodable: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so a pattern has no text to match. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "windows-1252", or use line ops and str_replace, which leave all other bytes alone.`,
      path,
    ),
} as const;
