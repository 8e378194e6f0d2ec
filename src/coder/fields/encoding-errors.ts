/** Refusals of encodings, and of texts that the encoding of a file cannot hold. */
import { quoteShort, Refusal } from "../../base/errors.ts";

/** Returns a character and its code point. */
function show(character: string): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `${JSON.stringify(character)} (U+${code})`;
}

export const refuseEncoding = {
  unknownLabel: (label: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`encoding\` is ${JSON.stringify(label.slice(0, 40))}, which is not a label of the Encoding Standard that a text can be written in. Send one such as "windows-1252", "shift_jis", "gbk" or "utf-16le", or leave it out for UTF-8. coder::read-file and coder::create-file also take "base64".`,
    ),

  unknownEncoding: (path: string, character: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so its encoding is unknown, and the new text has ${
        character === "\ufffd"
          ? "U+FFFD, which stands for bytes that could not be shown"
          : `${show(character)}, which is not ASCII`
      }. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "windows-1252", or send ASCII only.`,
      path,
    ),

  tooLarge: (path: string, encoding: string): Refusal =>
    new Refusal(
      "too-large",
      `${quoteShort(path)} is larger than max_read_bytes, and of such a file no lines are read in ${encoding}. Search it with coder::search, or ask the user to raise the limit.`,
      path,
    ),

  undecodable: (path: string): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} is not UTF-8 and has no byte order mark, so a pattern has no text to match. Nothing was changed. Repeat the call with the encoding of the file, such as "encoding": "windows-1252", or use line ops and str_replace, which leave all other bytes alone.`,
      path,
    ),

  missingCharacter: (path: string, encoding: string, character: string): Refusal =>
    new Refusal(
      "bad-input",
      `The new text has ${show(character)}, and ${encoding}, the encoding of ${quoteShort(path)}, lacks this character. Nothing was changed. Send the text without it.`,
      path,
    ),

  damagedLine: (path: string, encoding: string): Refusal =>
    new Refusal(
      "bad-input",
      `A line that would change in ${quoteShort(path)} has bytes that are invalid or ambiguous in ${encoding}, so it could not be written back unharmed. Nothing was changed. Leave that line as it is, or replace the whole line, or send the encoding that the file really has.`,
      path,
    ),
} as const;
