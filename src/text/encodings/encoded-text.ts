/**
 * The text of a file that is not UTF-8, for edits: a line that an edit does not change is written back with
 * its own bytes, even if these are invalid, or if the encoding has two forms of a character.
 */
import { joinInSteps } from "../../base/scheduling/join-bytes.ts";
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type Codec, createCodec, decodeInSteps, type Encoding, isUtf16 } from "./codec.ts";
import { endsLinesInReturns } from "./line-ends.ts";

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

/** Bytes and lines of one step, which takes a millisecond or two. */
const [bytesPerStep, linesPerStep] = [1024 * 1024, 4096];

/** Characters of one step that are encoded one by one, and that are only read. */
const charactersPerStep = { coded: 1024, read: 64 * 1024 } as const;

/** The time to encode or decode a byte, and to read it as a part of a key, as multiples of a comparison. */
const [codedCost, keyCost] = [16, 4];

/** Maximum bytes of a character in any encoding. */
const maxCharacterBytes = 4;

/** Bytes of a line that is not decoded in one step. */
const longLine = 128 * 1024;

const [lineFeed, carriageReturn] = [0x0a, 0x0d];

/** Bytes, and the start of each of their lines and the end. */
interface Lines {
  readonly bytes: Buffer;
  readonly starts: readonly number[];
}

/** A character, and its bytes in the file. */
interface DecodedCharacter {
  readonly character: string;
  readonly form: Buffer;
}

/** Lines from `first` up to, but not including, `last`. */
interface LineRange {
  readonly first: number;
  readonly last: number;
}

export class EncodedText {
  readonly #codec: Codec;
  readonly #file: Lines;
  readonly #text: Lines;
  /** The last byte of each line of the text. */
  readonly #lineEnd: number;

  private constructor(codec: Codec, { file, text, lineEnd }: { file: Lines; text: Lines; lineEnd: number }) {
    this.#codec = codec;
    this.#file = file;
    this.#text = text;
    this.#lineEnd = lineEnd;
  }

  /** Decodes a file in steps. Throws a `DamagedLine` if its lines depend on each other. */
  static *decode(bytes: Buffer, encoding: Encoding): Steps<EncodedText> {
    const decodedBytes = yield* decodeInSteps(bytes, encoding);
    const lineEnd = endsLinesInReturns(decodedBytes) ? carriageReturn : lineFeed;
    const file = yield* findLines(bytes, lineEnd, isUtf16(encoding) ? encoding : undefined);
    const text = yield* findLines(decodedBytes, lineEnd);
    // Edits rely on each line of the text being that of the same number in the file.
    if (file.starts.length !== text.starts.length) throw new DamagedLine();
    const decoded = new EncodedText(createCodec(encoding), { file, text, lineEnd });
    if (encoding === "iso-2022-jp" && !(yield* decoded.#hasSeparateLines())) throw new DamagedLine();
    return decoded;
  }

  /** Returns whether each line by itself is decoded as it is in the whole. */
  *#hasSeparateLines(): Steps<boolean> {
    const [file, text] = [this.#file, this.#text];
    const steps = new LineSteps();
    for (let line = 0; line < file.starts.length - 1; line++) {
      if (steps.isDueAfter(codedBytes(file, line))) yield;
      const decoded = yield* this.#decodeLine(line);
      if (!decoded.equals(bytesOfLine(text, line))) return false;
    }
    return true;
  }

  /** Decodes a line by itself, in steps if it is long. */
  *#decodeLine(line: number): Steps<Buffer> {
    const bytes = bytesOfLine(this.#file, line);
    if (bytes.length <= longLine) return Buffer.from(this.#codec.decode(bytes));
    return yield* decodeInSteps(bytes, this.#codec.encoding);
  }

  /** The text in UTF-8, including the byte order mark, if any. */
  get text(): Buffer {
    return this.#text.bytes;
  }

  /** Returns the bytes of the text after edits, in steps. Throws a `MissingCharacter` or a `DamagedLine`. */
  *bytesOf(edited: Buffer): Steps<Buffer> {
    const { bytes, starts } = this.#file;
    const { first, last, changed } = yield* this.#changeIn(edited);
    const encoded = changed.length === 0 ? [] : yield* this.#encode(changed, { first, last });
    return Buffer.concat([bytes.subarray(0, starts[first]!), ...encoded, bytes.subarray(starts[last]!)]);
  }

  /** Finds the lines from `first` up to, but not including, `last` that are changed, and the new ones. */
  *#changeIn(edited: Buffer): Steps<{ first: number; last: number; changed: Buffer }> {
    const { bytes: text, starts } = this.#text;
    const end = starts.length - 1;
    const most = Math.min(text.length, edited.length);
    const same = yield* commonStart(text, edited, most);
    let first = lastAtMost(starts, same);
    // Bytes after a last line without an ending change that line.
    if (first === end && end > 0 && edited.length > text.length && text.at(-1) !== this.#lineEnd) first--;
    const start = starts[first]!;
    const sameAfter = yield* commonEnd(text, edited, most - start);
    const [kept, added] = [text.length - sameAfter, edited.length - sameAfter];
    let last = lastAtMost(starts, kept);
    const isWhole = starts[last] === kept && (added === start || edited[added - 1] === this.#lineEnd);
    if (last < end && !isWhole) last++;
    return { first, last, changed: edited.subarray(start, edited.length - text.length + starts[last]!) };
  }

  /**
   * Returns the bytes of lines in place of others, in pieces. A line that the file has is written with its
   * bytes there, and a character with those that it has in the lines that are replaced.
   */
  *#encode(changed: Buffer, replaced: LineRange): Steps<Uint8Array[]> {
    const lines = yield* findLines(changed, this.#lineEnd);
    const kept = yield* this.#bytesOfKept(lines);
    const forms = yield* this.#otherForms(replaced);
    const encode = (text: string) => encodeWith(this.#codec, forms, text);
    const isDamaged = this.text.includes("\ufffd");
    const pieces: Uint8Array[] = [];
    const steps = new LineSteps();
    let from = 0;
    for (let line = 0; line < lines.starts.length - 1; line++) {
      if (steps.isDueAfter(keyBytes(lines, line))) yield;
      const bytes = kept.get(keyOfLine(lines, line));
      const isLost = bytes === undefined && isDamaged && bytesOfLine(lines, line).includes("\ufffd");
      if (bytes === null || isLost) throw new DamagedLine();
      if (bytes === undefined) continue;
      pieces.push(yield* encode(changed.toString("utf8", from, lines.starts[line]!)), bytes);
      from = lines.starts[line + 1]!;
    }
    pieces.push(yield* encode(changed.toString("utf8", from)));
    return [yield* joinInSteps(pieces)];
  }

  /**
   * Returns the bytes of those lines that the file has, by their text, unless the text is encoded to them,
   * and null for a text that has different bytes in two lines.
   */
  *#bytesOfKept(lines: Lines): Steps<Map<string, Buffer | null>> {
    const wanted = new Set<string>();
    const lengths = new Set<number>();
    const steps = new LineSteps();
    for (let line = 0; line < lines.starts.length - 1; line++) {
      if (steps.isDueAfter(keyBytes(lines, line))) yield;
      const key = keyOfLine(lines, line);
      wanted.add(key);
      lengths.add(key.length);
    }
    const kept = new Map<string, Buffer | null>();
    const { starts } = this.#text;
    for (let line = 0; line < starts.length - 1; line++) {
      const isCompared = lengths.has(starts[line + 1]! - starts[line]!);
      if (steps.isDueAfter(isCompared ? keyBytes(this.#text, line) : 0)) yield;
      if (!isCompared) continue;
      const key = keyOfLine(this.#text, line);
      if (!wanted.has(key)) continue;
      const bytes = bytesOfLine(this.#file, line);
      const known = kept.get(key);
      if (known === undefined) kept.set(key, bytes);
      else if (known !== null && !known.equals(bytes)) kept.set(key, null);
    }
    for (const [key, bytes] of kept) {
      if (steps.isDueAfter(key.length * codedCost)) yield;
      if (bytes === null) continue;
      if (yield* this.#isEncoding(Buffer.from(key, "latin1").toString(), bytes)) kept.delete(key);
    }
    return kept;
  }

  /**
   * Returns the bytes of the characters in some lines that the encoding writes with others: 纊 has two forms
   * in Shift_JIS. A character with several forms in these lines has null.
   */
  *#otherForms({ first, last }: LineRange): Steps<Map<string, Buffer | null>> {
    const forms = new Map<string, Buffer | null>();
    if (this.#codec.isStateful || (yield* this.#hasUsualForms({ first, last }))) return forms;
    const usualLines: number[] = [];
    const usual = new Set<string>();
    const steps = new LineSteps();
    let characters = 0;
    for (let line = first; line < last; line++) {
      if (steps.isDueAfter(codedBytes(this.#file, line))) yield;
      if (yield* this.#isEncoding(this.#textOf(line), bytesOfLine(this.#file, line))) {
        usualLines.push(line);
        continue;
      }
      for (const { character, form } of this.#charactersOf(line)) {
        if (++characters % charactersPerStep.coded === 0) yield;
        const known = forms.get(character);
        if (this.#isForm(character, form)) usual.add(character);
        else if (known === undefined) forms.set(character, form);
        else if (known !== null && !known.equals(form)) forms.set(character, null);
      }
    }
    if (forms.size === 0) return forms;
    for (const line of usualLines)
      for (const character of this.#textOf(line)) {
        if (forms.has(character)) usual.add(character);
        if (++characters % charactersPerStep.read === 0) yield;
      }
    for (const character of forms.keys()) if (usual.has(character)) forms.set(character, null);
    return forms;
  }

  /** Returns the text of a line. */
  #textOf(line: number): string {
    return bytesOfLine(this.#text, line).toString();
  }

  /** Returns whether the encoding writes some lines as they are: one comparison of all of them. */
  *#hasUsualForms({ first, last }: LineRange): Steps<boolean> {
    const [file, text] = [this.#file, this.#text];
    const lines = text.bytes.toString("utf8", text.starts[first]!, text.starts[last]!);
    try {
      const encoded = yield* encodeText(this.#codec, lines);
      return file.bytes.subarray(file.starts[first]!, file.starts[last]!).equals(encoded);
    } catch (error) {
      if (error instanceof MissingCharacter) return false;
      throw error;
    }
  }

  /** Yields the characters of a line, up to invalid bytes, and their bytes. */
  *#charactersOf(line: number): Generator<DecodedCharacter> {
    const [text, bytes] = [this.#textOf(line), bytesOfLine(this.#file, line)];
    for (let [read, at] = [0, 0]; at < bytes.length; ) {
      const found = this.#characterAt(bytes.subarray(at, at + maxCharacterBytes));
      if (found === undefined || !text.startsWith(found.character, read)) return;
      yield found;
      [read, at] = [read + found.character.length, at + found.form.length];
    }
  }

  /** Returns the character that some bytes begin with, or the pair that Big5 has as one, unless invalid. */
  #characterAt(bytes: Buffer): DecodedCharacter | undefined {
    for (let length = 1; length <= bytes.length; length++) {
      const form = bytes.subarray(0, length);
      const character = this.#codec.decode(form);
      if (!character.includes("\ufffd")) return { character, form };
    }
    return undefined;
  }

  /** Returns whether a text is encoded to these bytes, in steps. U+FFFD may stand for what is invalid. */
  *#isEncoding(text: string, bytes: Buffer): Steps<boolean> {
    let at = 0;
    for (const encoded of encodePieces(this.#codec, text, (piece) => this.#encodeForm(piece))) {
      if (at > 0) yield;
      if (encoded === undefined || !bytes.subarray(at, at + encoded.length).equals(encoded)) return false;
      at += encoded.length;
    }
    return at === bytes.length;
  }

  /** Like `#isEncoding`, but for a short text. */
  #isForm(text: string, bytes: Buffer): boolean {
    const encoded = this.#encodeForm(text);
    return encoded !== undefined && bytes.equals(encoded);
  }

  /** Encodes a text. Returns `undefined` if it has U+FFFD, or a character that can only be decoded. */
  #encodeForm(text: string): Uint8Array | undefined {
    if (text.includes("\ufffd")) return undefined;
    try {
      return this.#codec.encode(text);
    } catch (error) {
      if (error instanceof TypeError) return undefined;
      throw error;
    }
  }
}

const bytesOfLine = ({ bytes, starts }: Lines, line: number): Buffer =>
  bytes.subarray(starts[line]!, starts[line + 1]!);

const lengthOfLine = ({ starts }: Lines, line: number): number => starts[line + 1]! - starts[line]!;

/** Returns how many bytes are compared in the time that a line takes to encode or decode. */
const codedBytes = (lines: Lines, line: number): number => codedCost * lengthOfLine(lines, line);

/** Returns how many bytes are compared in the time that a line takes as a key. */
const keyBytes = (lines: Lines, line: number): number => keyCost * lengthOfLine(lines, line);

/** Returns the bytes of a line as one character each. */
const keyOfLine = ({ bytes, starts }: Lines, line: number): string =>
  bytes.toString("latin1", starts[line]!, starts[line + 1]!);

/** Returns the index of the last number that is at most `limit`, in ascending numbers that begin with 0. */
function lastAtMost(numbers: readonly number[], limit: number): number {
  let [low, high] = [0, numbers.length - 1];
  while (low < high) {
    const middle = Math.ceil((low + high) / 2);
    if (numbers[middle]! <= limit) low = middle;
    else high = middle - 1;
  }
  return low;
}

/** Returns how many bytes are the same at the start, up to `most`. */
function* commonStart(one: Buffer, other: Buffer, most: number): Steps<number> {
  let same = 0;
  while (same < most) {
    const to = Math.min(most, same + bytesPerStep);
    if (!one.subarray(same, to).equals(other.subarray(same, to))) break;
    same = to;
    yield;
  }
  return sameFrom(one, other, { same, most });
}

function sameFrom(one: Buffer, other: Buffer, { same, most }: { same: number; most: number }): number {
  let at = same;
  while (at < most && one[at] === other[at]) at++;
  return at;
}

/** Returns how many bytes are the same at the end, up to `most`. */
function* commonEnd(one: Buffer, other: Buffer, most: number): Steps<number> {
  const partOf = (bytes: Buffer, from: number, to: number) =>
    bytes.subarray(bytes.length - to, bytes.length - from);
  let same = 0;
  while (same < most) {
    const to = Math.min(most, same + bytesPerStep);
    if (!partOf(one, same, to).equals(partOf(other, same, to))) break;
    same = to;
    yield;
  }
  return sameBefore(one, other, { same, most });
}

function sameBefore(one: Buffer, other: Buffer, { same, most }: { same: number; most: number }): number {
  let at = same;
  while (at < most && one[one.length - 1 - at] === other[other.length - 1 - at]) at++;
  return at;
}

/** Encodes a text, with other bytes for some characters. Throws a `DamagedLine` for one that has null. */
function* encodeWith(
  codec: Codec,
  forms: ReadonlyMap<string, Buffer | null>,
  text: string,
): Steps<Uint8Array> {
  if (forms.size === 0) return yield* encodeText(codec, text);
  const encoded: Uint8Array[] = [];
  let [from, at, characters] = [0, 0, 0];
  for (const character of text) {
    if (++characters % charactersPerStep.read === 0) yield;
    const form = forms.get(character);
    if (form === null) throw new DamagedLine();
    if (form !== undefined) {
      encoded.push(yield* encodeText(codec, text.slice(from, at)), form);
      from = at + character.length;
    }
    at += character.length;
  }
  encoded.push(yield* encodeText(codec, text.slice(from)));
  return yield* joinInSteps(encoded);
}

/**
 * Encodes a text in steps. Throws a `MissingCharacter`, also for a character that the standard encodes as
 * another one, such as the yen sign in Shift_JIS, whose byte is the backslash.
 */
export function* encodeText(codec: Codec, text: string): Steps<Uint8Array> {
  const encoded: Uint8Array[] = [];
  const encode = (piece: string): Uint8Array => {
    const bytes = encodeExactly(codec, piece);
    if (bytes === undefined) throw new MissingCharacter(missingIn(codec, piece));
    return bytes;
  };
  for (const bytes of encodePieces(codec, text, encode)) {
    if (encoded.length > 0) yield;
    encoded.push(bytes);
  }
  return encoded.length === 1 ? encoded[0]! : Buffer.concat(encoded);
}

/**
 * Yields the bytes of a text in pieces that are encoded one by one. In ISO-2022-JP, each piece goes on in the
 * character set that the one before it has ended in.
 */
function* encodePieces<Bytes extends Uint8Array | undefined>(
  codec: Codec,
  text: string,
  encode: (piece: string) => Bytes,
): Generator<Bytes | Uint8Array> {
  let set: CharacterSet = characterSets.ascii;
  let length = 0;
  for (const piece of piecesOf(text)) {
    const bytes = encode(set.selector + piece);
    length += piece.length;
    if (bytes === undefined || !codec.isStateful) yield bytes;
    else {
      const encoded = Buffer.from(bytes);
      const isOpen = length < text.length && encoded.subarray(-toAscii.length).equals(toAscii);
      const end = isOpen ? encoded.length - toAscii.length : encoded.length;
      const start = set.bytes;
      set = isOpen ? setAt(encoded, encoded.lastIndexOf(escapeByte, end - 1)) : characterSets.ascii;
      yield encoded.subarray(start, end);
    }
  }
}

const escapeByte = 0x1b;

/** Selects ASCII at the end of each text. */
const toAscii = Buffer.from("\x1b(B");

/** The character sets of ISO-2022-JP: a character that selects each, and the bytes of it and its escape. */
const characterSets = {
  ascii: { selector: "", bytes: 0 },
  roman: { selector: "\u00a5", bytes: 4 },
  kanji: { selector: "\u3042", bytes: 5 },
} as const;

type CharacterSet = (typeof characterSets)[keyof typeof characterSets];

const setAt = (bytes: Buffer, at: number): CharacterSet =>
  bytes[at + 1] === 0x24 ? characterSets.kanji : characterSets.roman;

/**
 * Returns the first character of a text that the encoding lacks, or the text if it lacks only the whole. The
 * halves of the text are tried, since each character by itself would take a hundred times as long.
 */
function missingIn(codec: Codec, text: string): string {
  let part = text;
  for (let middle = middleOf(part); middle > 0; middle = middleOf(part)) {
    const halves = [part.slice(0, middle), part.slice(middle)];
    const lacking = halves.find((half) => encodeExactly(codec, half) === undefined);
    if (lacking === undefined) return text;
    part = lacking;
  }
  return part;
}

/** Returns the middle of a text between two characters, or 0 if it has only one. */
function middleOf(text: string): number {
  const middle = text.length >> 1;
  const end = /^[\ud800-\udbff]$/.test(text[middle - 1] ?? "") ? middle + 1 : middle;
  return end < text.length ? end : 0;
}

/** Returns the bytes that are decoded to this text, or `undefined` if the encoding cannot hold it. */
function encodeExactly(codec: Codec, text: string): Uint8Array | undefined {
  try {
    const bytes = codec.encode(text);
    return codec.decode(bytes) === text ? bytes : undefined;
  } catch (error) {
    if (!(error instanceof TypeError)) throw error;
    return undefined;
  }
}

/**
 * Finds the lines of bytes, which end after each `lineEnd`. No other character of a writable encoding
 * contains one.
 */
function* findLines(bytes: Buffer, lineEnd: number, utf16?: Encoding): Steps<Lines> {
  const starts = [0];
  const end =
    utf16 === undefined
      ? Buffer.of(lineEnd)
      : Buffer.from(utf16 === "utf-16le" ? [lineEnd, 0] : [0, lineEnd]);
  let [start, found] = [0, 0];
  for (let at = bytes.indexOf(end); at >= 0; ) {
    if (++found % linesPerStep === 0) yield;
    const isEnd = utf16 === undefined || at % 2 === 0;
    if (isEnd) {
      start = at + end.length;
      starts.push(start);
    }
    at = bytes.indexOf(end, isEnd ? start : at + 1);
  }
  if (start < bytes.length) starts.push(bytes.length);
  return { bytes, starts };
}
