/** The bytes of a file as the content of an answer. */
import { isUtf8 } from "node:buffer";
import { digits } from "../sizes/json-size.ts";
import { decodeForAnswer, type JsonText } from "./json-text.ts";

export interface FileContent extends JsonText {
  /** The size of the text in UTF-8, in bytes. */
  readonly bytes: number;
  /** Whether the text, or the bytes that it encodes, equal those of the file. */
  readonly isUtf8: boolean;
}

export function textContent(file: Buffer): FileContent {
  const { text, jsonBytes, isUtf8 } = decodeForAnswer(file);
  return { text, jsonBytes, isUtf8, bytes: isUtf8 ? file.length : Buffer.byteLength(text) };
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
 * Returns the content with `N→` before each line. A byte order mark stays first, since it belongs to no line.
 */
export function numberContent(content: FileContent, numbering: Numbering): FileContent {
  const added = numberBytes(numbering);
  const text = numberLines(content.text, numbering.first);
  return { ...content, text, bytes: content.bytes + added, jsonBytes: content.jsonBytes + added };
}

function numberLines(text: string, first: number): string {
  let at = first === 1 && text.startsWith("\ufeff") ? 1 : 0;
  let numbered = text.slice(0, at);
  for (let number = first; at < text.length; number++) {
    const end = text.indexOf("\n", at) + 1 || text.length;
    numbered += `${number}${arrow}${text.slice(at, end)}`;
    at = end;
  }
  return numbered;
}

/**
 * Returns how many of the first lines of `text` fit into `maxBytes` bytes. If `numberedFrom` is the number of
 * the first line, the numbers count too.
 */
export function countFitting(text: string, maxBytes: number, numberedFrom: number | undefined): number {
  const bytes = Buffer.from(text.slice(0, maxBytes));
  let used = 0;
  for (let fitting = 0, at = 0; ; fitting++) {
    const end = bytes.indexOf("\n", at) + 1;
    used += end - at;
    if (numberedFrom !== undefined) used += numberBytes({ first: numberedFrom + fitting, lines: 1 });
    if (end === 0 || used > maxBytes) return fitting;
    at = end;
  }
}
