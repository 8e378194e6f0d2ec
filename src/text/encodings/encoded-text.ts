/**
 * The text of a file that is not UTF-8, for edits: a line that an edit does not change is written back with
 * its own bytes, even if these are invalid, or if the encoding has two forms of a character.
 */
import { type Codec, createCodec, type Encoding, isUtf16 } from "./codec.ts";

/** Thrown if a text has a character that its encoding lacks. */
export class MissingCharacter extends Error {
  override readonly name = "MissingCharacter";
  readonly character: string;

  constructor(character: string) {
    super(`the encoding has no ${character}`);
    this.character = character;
  }
}

/** Thrown if an edit changes a line that could not be decoded, or whose bytes are ambiguous. */
export class DamagedLine extends Error {
  override readonly name = "DamagedLine";
}

export class EncodedText {
  readonly #codec: Codec;
  readonly #lines: readonly Buffer[];
  readonly #texts: readonly string[];

  /** Throws a `DamagedLine` if the lines of the file depend on each other. */
  constructor(bytes: Buffer, encoding: Encoding) {
    this.#codec = createCodec(encoding);
    this.#lines = splitLines(bytes, isUtf16(encoding) ? encoding : undefined);
    this.#texts = this.#lines.map((line) => this.#codec.decode(line));
    if (encoding === "iso-2022-jp" && this.#codec.decode(bytes) !== this.#texts.join(""))
      throw new DamagedLine();
  }

  /** Returns the text in UTF-8, including the byte order mark, if any. */
  get text(): Buffer {
    return Buffer.from(this.#texts.join(""));
  }

  /** Returns the bytes of the text after edits. Throws a `MissingCharacter` or a `DamagedLine`. */
  bytesOf(text: string): Buffer {
    const [old, texts] = [this.#texts, text.split(/(?<=\n)/)];
    const most = Math.min(old.length, texts.length);
    let same = 0;
    while (same < most && old[same] === texts[same]) same++;
    let sameAfter = 0;
    while (sameAfter < most - same && old.at(-1 - sameAfter) === texts.at(-1 - sameAfter)) sameAfter++;
    const changed = texts.slice(same, texts.length - sameAfter);
    const kept = changed.length === 0 ? undefined : this.#bytesByText();
    return Buffer.concat([
      ...this.#lines.slice(0, same),
      ...changed.map((line) => this.#encode(line, kept?.get(line))),
      ...this.#lines.slice(old.length - sameAfter),
    ]);
  }

  /** Returns the bytes of lines that their text does not encode to, and null for a text of two such lines. */
  #bytesByText(): Map<string, Buffer | null> {
    const kept = new Map<string, Buffer | null>();
    for (const [index, text] of this.#texts.entries()) {
      const line = this.#lines[index]!;
      const known = kept.get(text);
      if (known === undefined) kept.set(text, line);
      else if (known !== null && !known.equals(line)) kept.set(text, null);
    }
    return kept;
  }

  #encode(line: string, kept: Buffer | null | undefined): Uint8Array {
    if (kept === null) throw new DamagedLine();
    if (kept !== undefined) return kept;
    if (line.includes("\ufffd") && this.#texts.some((text) => text.includes("\ufffd")))
      throw new DamagedLine();
    return encodeText(this.#codec, line);
  }
}

/** Encodes a text. Throws a `MissingCharacter`. */
export function encodeText(codec: Codec, text: string): Uint8Array {
  try {
    return codec.encode(text);
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    throw new MissingCharacter(Array.from(text).find((character) => lacks(codec, character)) ?? text);
  }
}

function lacks(codec: Codec, character: string): boolean {
  try {
    codec.encode(character);
    return false;
  } catch {
    return true;
  }
}

/** Splits bytes after each line feed, which no other character of a writable encoding contains. */
function splitLines(bytes: Buffer, utf16: Encoding | undefined): Buffer[] {
  const lines: Buffer[] = [];
  const feed =
    utf16 === undefined ? Buffer.of(0x0a) : utf16 === "utf-16le" ? Buffer.of(0x0a, 0) : Buffer.of(0, 0x0a);
  let start = 0;
  for (let at = bytes.indexOf(feed); at >= 0; ) {
    const isFeed = utf16 === undefined || at % 2 === 0;
    if (isFeed) {
      lines.push(bytes.subarray(start, at + feed.length));
      start = at + feed.length;
    }
    at = bytes.indexOf(feed, isFeed ? start : at + 1);
  }
  if (start < bytes.length) lines.push(bytes.subarray(start));
  return lines;
}
