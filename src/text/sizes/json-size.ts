import { isAscii } from "node:buffer";
import { piecesOf } from "../../base/scheduling/text-pieces.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { escapeBytes } from "./escape-bytes.ts";
import { chunkBytes, kernelFor } from "./kernel.ts";

/**
 * Returns the bytes of `JSON.stringify(value)` in UTF-8 without making the text (ECMA-262,
 * SerializeJSONProperty). Strings must be well-formed. Answers need it because one message of the bus carries
 * at most 16 MiB.
 */
export const jsonBytes = (value: unknown): number => valueBytes(value);

/** The long texts and lists of an answer, which are measured in steps. */
type Long = string | readonly unknown[];

/** Returns `jsonBytes`, without that of long texts and lists if they are collected in `long`. */
function valueBytes(value: unknown, long?: Long[]): number {
  if (typeof value === "string") {
    if (long === undefined || value.length <= longText) return stringBytes(value);
    long.push(value);
    return 0;
  }
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return digits(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null || typeof value !== "object") return 4;
  if (!Array.isArray(value)) return fieldBytes(value, long);
  if (long === undefined || value.length <= longList) return arrayBytes(value, long);
  long.push(value);
  return 0;
}

/**
 * Maximum length of a text and of a list that is measured with the value that it is in, and the items of
 * longer lists that are measured in one step.
 */
const [longText, longList, atOnce] = [4096, 50, 500];

/** Does what `jsonBytes` does, in steps, for an answer with long texts or very many entries. */
export function* measureJson(answer: unknown): Steps<number> {
  const long: Long[] = [];
  let bytes = valueBytes(answer, long);
  let items = 0;
  // The items of one list may add others.
  for (const value of long) {
    bytes += 2;
    if (typeof value === "string") {
      for (const piece of piecesOf(value)) {
        bytes += stringBytes(piece) - 2;
        yield;
      }
      continue;
    }
    bytes += value.length - 1;
    for (const item of value) {
      bytes += valueBytes(item, long);
      if (++items % atOnce === 0) yield;
    }
  }
  return bytes;
}

/** Returns the number of digits of a non-negative whole number. */
export function digits(number: number): number {
  let count = 1;
  for (let least = 10; number >= least; least *= 10) count++;
  return count;
}

function arrayBytes(items: readonly unknown[], long?: Long[]): number {
  let bytes = 2 + Math.max(0, items.length - 1);
  for (const item of items) bytes += valueBytes(item, long);
  return bytes;
}

/** Returns the `jsonBytes` of an object. `counted` holds fields whose `jsonBytes` are known already. */
export const objectBytes = <T extends object>(fields: T, counted?: CountedFields<T>): number =>
  fieldBytes(fields, undefined, counted);

type CountedFields<T> = Readonly<Partial<Record<keyof T, number>>>;

function fieldBytes<T extends object>(fields: T, long?: Long[], counted?: CountedFields<T>): number {
  let bytes = 2;
  let count = 0;
  for (const name of Object.keys(fields) as (keyof T & string)[]) {
    const value = fields[name];
    if (value === undefined) continue;
    bytes += stringBytes(name) + 1 + (counted?.[name] ?? valueBytes(value, long));
    count++;
  }
  return bytes + Math.max(0, count - 1);
}

/** Maximum length of a text that is read unit by unit. For longer ones the encoder is many times as fast. */
const shortUnits = 24;

function stringBytes(text: string): number {
  if (text.length > shortUnits) return encodedBytes(text);
  let bytes = text.length + 2;
  for (let i = 0; i < text.length; i++) {
    const unit = text.charCodeAt(i);
    if (unit >= 0x80) return encodedBytes(text);
    bytes += escapeBytes[unit]!;
  }
  return bytes;
}

const encoder = new TextEncoder();

function encodedBytes(text: string): number {
  const kernel = kernelFor(text.length);
  let bytes = 2;
  for (let start = 0; start < text.length; ) {
    const end = pieceEnd(text, start);
    const { written } = encoder.encodeInto(text.slice(start, end), kernel.chunk);
    bytes += written + kernel.countEscapes(written);
    start = end;
  }
  return bytes;
}

/**
 * Returns the `jsonBytes` of a text in UTF-8, and whether it is ASCII. For other bytes the size is
 * meaningless.
 */
export function measureUtf8(text: Buffer): { readonly jsonBytes: number; readonly isAscii: boolean } {
  const kernel = kernelFor(text.length);
  let jsonBytes = 2 + text.length;
  let isAllAscii = true;
  for (let from = 0; from < text.length; from += chunkBytes) {
    const length = text.copy(kernel.chunk, 0, from, from + chunkBytes);
    // A text of one chunk needs no view.
    isAllAscii &&= isAscii(length === text.length ? text : kernel.chunk.subarray(0, length));
    jsonBytes += kernel.countEscapes(length);
  }
  return { jsonBytes, isAscii: isAllAscii };
}

/** Maximum UTF-16 units that always fit into one chunk as UTF-8. */
const chunkUnits = Math.floor(chunkBytes / 3);

/** Returns the end of the piece that begins at `start`, never inside a surrogate pair. */
function pieceEnd(text: string, start: number): number {
  const end = start + chunkUnits;
  if (end >= text.length) return text.length;
  return (text.charCodeAt(end) & 0xfc00) === 0xdc00 ? end - 1 : end;
}
