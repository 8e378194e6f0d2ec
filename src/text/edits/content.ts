/** The bytes of a file as the content of an answer. */
import { isUtf8 } from "node:buffer";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { digits } from "../sizes/json-size.ts";
import { decodeForAnswer, type JsonText } from "./json-text.ts";
import { bomLength, countLineEnds, lineFeed } from "./lines.ts";

export interface FileContent extends JsonText {
  /** The size of the text in UTF-8, in bytes. */
  readonly bytes: number;
  /** Whether the text, or the bytes that it encodes, equal those of the file. */
  readonly isUtf8: boolean;
}

/** Returns the text of a file in UTF-8 (`validUtf8`), in steps. */
export function* textContent(file: Buffer): Steps<FileContent> {
  let [text, jsonBytes] = ["", 2];
  for (let from = 0, to = 0; from < file.length; from = to) {
    if (from > 0) yield;
    to = endOfCharacter(file, from + decodedBytes);
    const part = decodeForAnswer(file.subarray(from, to));
    text += part.text;
    jsonBytes += part.jsonBytes - 2;
  }
  return { text, jsonBytes, isUtf8: true, bytes: file.length };
}

/** Bytes that become a string in one step, about. */
const decodedBytes = 256 * 1024;

/** Returns the place, at or before `at`, where no character of the text is split. */
function endOfCharacter(text: Buffer, at: number): number {
  if (at >= text.length) return text.length;
  let end = at;
  while ((text[end]! & 0xc0) === 0x80) end--;
  return end;
}

/** Returns the content in base64 (RFC 4648), with padding. */
export function base64Content(file: Buffer): FileContent {
  const text = file.toString("base64");
  return { text, jsonBytes: text.length + 2, bytes: text.length, isUtf8: isUtf8(file) };
}

/** The separator between the number of a line and the line. */
const arrow = "→";
const arrowBytes = Buffer.byteLength(arrow);

/** Consecutive lines, starting with the number `first`. */
interface Numbering {
  readonly first: number;
  readonly lines: number;
}

/** Returns the number of bytes that line numbers add. */
export function numberBytes({ first, lines }: Numbering): number {
  const end = first + lines;
  let bytes = lines * arrowBytes;
  for (let from = first; from < end; ) {
    const width = digits(from);
    const to = Math.min(end, 10 ** width);
    bytes += (to - from) * width;
    from = to;
  }
  return bytes;
}

/**
 * Returns the content, whose UTF-8 is `text`, with `N→` before each line. A byte order mark stays first,
 * since it belongs to no line.
 */
export function* numberContent(content: FileContent, text: Buffer, numbering: Numbering): Steps<FileContent> {
  const added = numberBytes(numbering);
  const bytes = content.bytes + added;
  const numbered = yield* numberLines(text, numbering.first, bytes);
  return { ...content, text: numbered.toString(), bytes, jsonBytes: content.jsonBytes + added };
}

/**
 * Returns `size` bytes: the lines with their numbers. It works on bytes, because concatenating texts takes
 * five times as long.
 */
function* numberLines(text: Buffer, first: number, size: number): Steps<Buffer> {
  const numbered = Buffer.allocUnsafe(size);
  const at = first === 1 ? bomLength(text) : 0;
  const position = { at, end: text.copy(numbered, 0, 0, at), label: labelOf(first), isStart: true };
  while (position.at < text.length) {
    numberPart(text, numbered, position);
    yield;
  }
  return numbered.subarray(0, position.end);
}

/** The place in a text that is numbered, the end of what is written, and the label of the line. */
interface NumberedPosition {
  at: number;
  end: number;
  label: Buffer;
  isStart: boolean;
}

/** Numbers the lines of the next bytes. */
function numberPart(text: Buffer, numbered: Buffer, position: NumberedPosition): void {
  let { at, end, label, isStart } = position;
  for (const to = Math.min(text.length, at + numberedBytes); at < to; at++) {
    if (isStart) for (let digit = 0; digit < label.length; digit++) numbered[end++] = label[digit]!;
    const byte = text[at]!;
    numbered[end++] = byte;
    isStart = byte === lineFeed;
    if (isStart && !increment(label)) label = labelOf(10 ** (label.length - arrowBytes));
  }
  Object.assign(position, { at, end, label, isStart });
}

/** Bytes whose lines are numbered in one step. */
const numberedBytes = 128 * 1024;

const labelOf = (number: number): Buffer => Buffer.from(`${number}${arrow}`);

const [zero, nine] = [0x30, 0x39];

/** Adds 1 to the number in a label. Returns false if that takes a further digit. */
function increment(label: Buffer): boolean {
  for (let digit = label.length - arrowBytes - 1; digit >= 0; digit--) {
    if (label[digit] !== nine) {
      label[digit]!++;
      return true;
    }
    label[digit] = zero;
  }
  return false;
}

/**
 * Returns how many of the first lines of a text in UTF-8 fit into `maxBytes` bytes. If `numberedFrom`
 * is the number of the first line, the numbers count too.
 */
export function countFitting(
  text: Buffer,
  { maxBytes, numberedFrom }: { readonly maxBytes: number; readonly numberedFrom: number | undefined },
): number {
  const numbersOf = (lines: number) =>
    numberedFrom === undefined ? 0 : numberBytes({ first: numberedFrom, lines });
  let [fitting, at] = [0, 0];
  // Finding each line takes long, so whole pieces are counted first.
  for (let to = pieceBytes; to < text.length; to += pieceBytes) {
    const { feeds } = countLineEnds(text.subarray(to - pieceBytes, to));
    if (to + numbersOf(fitting + feeds) > maxBytes) break;
    fitting += feeds;
    at = to;
  }
  let end = at === 0 ? 0 : text.lastIndexOf(lineFeed, at - 1) + 1;
  for (;;) {
    end = text.indexOf(lineFeed, end) + 1;
    if (end === 0 || end + numbersOf(fitting + 1) > maxBytes) return fitting;
    fitting++;
  }
}

const pieceBytes = 64 * 1024;
