import { quoteShort, Refusal } from "../../base/errors.ts";
import { type Encoding, encodingName } from "./codec.ts";

/** Returns a character and its code point. */
export function showCharacter(character: string): string {
  const code = character.codePointAt(0)!.toString(16).toUpperCase().padStart(4, "0");
  return `${JSON.stringify(character)} (U+${code})`;
}

/** Refusals of encodings, and of texts that the encoding of a file cannot hold. */
export const refuseEncoding = {
  unknownLabel: (label: string, others?: string): Refusal =>
    new Refusal(
      "bad-input",
      `\`encoding\` is ${JSON.stringify(label.slice(0, 40))}, which is not a label of the Encoding Standard that a text can be written in. Send one such as "windows-1252", "shift_jis", "gbk" or "utf-16le", or leave it out for UTF-8.${others === undefined ? "" : ` ${others}`}`,
    ),

  missingCharacter: (path: string, encoding: string, character: string): Refusal =>
    new Refusal(
      "bad-input",
      `The new text has ${showCharacter(character)}, and ${encoding}, the encoding of ${quoteShort(path)}, lacks this character. Nothing was changed. Send the text without it.`,
      path,
    ),

  damagedLine: (path: string, encoding: string): Refusal =>
    new Refusal(
      "bad-input",
      `A line that would change in ${quoteShort(path)} has bytes that are invalid or ambiguous in ${encoding}, so it could not be written back unharmed. Nothing was changed. Leave that line as it is, or replace the whole line, or send the encoding that the file really has.`,
      path,
    ),

  unmarked: (path: string, encoding: Encoding): Refusal =>
    new Refusal(
      "bad-input",
      `${quoteShort(path)} seems to be ${encodingName(encoding)} without a byte order mark, so text in UTF-8 would damage it. Nothing was changed. Repeat the call with "encoding": "${encoding}", or with "encoding": "utf-8" if its bytes are meant as they are.`,
      path,
    ),
} as const;
