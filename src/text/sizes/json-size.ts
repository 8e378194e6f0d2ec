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

/** Returns `jsonBytes`, without that of long texts if they are collected in `longTexts`. */
function valueBytes(value: unknown, longTexts?: string[]): number {
  if (typeof value === "string") {
    if (longTexts === undefined || value.length <= longText) return stringBytes(value);
    longTexts.push(value);
    return 0;
  }
  if (typeof value === "number" && Number.isSafeInteger(value) && value >= 0) return digits(value);
  if (typeof value === "number") return Number.isFinite(value) ? String(value).length : 4;
  if (typeof value === "boolean") return value ? 4 : 5;
  if (value === null || typeof value !== "object") return 4;
  return Array.isArray(value) ? arrayBytes(value, longTexts) : fieldBytes(value, longTexts);
}

/** Items of a list that are measured in one step, and the length of a text that is. */
const [atOnce, longText] = [500, 64 * 1024];

/**
 * Does what `jsonBytes` does, in steps, for an answer with long texts or a field that lists very many
 * entries.
 */
export function* measureJson(answer: unknown): Steps<number> {
  const longTexts: string[] = [];
  let bytes = yield* measureFields(answer, longTexts);
  for (const text of longTexts) {
    bytes += 2;
    for (const piece of piecesOf(text)) {
      bytes += stringBytes(piece) - 2;
      yield;
    }
  }
  return bytes;
}

function* measureFields(answer: unknown, longTexts: string[]): Steps<number> {
  if (typeof answer !== "object" || answer === null || Array.isArray(answer))
    return valueBytes(answer, longTexts);
  const counted = Object.create(null) as Record<string, number>;
  for (const [name, value] of Object.entries(answer)) {
    if (!Array.isArray(value) || value.length <= atOnce) continue;
    let bytes = 2 + value.length - 1;
    for (const [index, item] of value.entries()) {
      if (index % atOnce === 0) yield;
      bytes += valueBytes(item, longTexts);
    }
    counted[name] = bytes;
  }
  return fieldBytes(answer, longTexts, counted);
}

/** Returns the number of digits of a non-negative whole number. */
export function digits(number: number): number {
  let count = 1;
  for (let least = 10; number >= least; least *= 10) count++;
  return count;
}

function arrayBytes(items: readonly unknown[], longTexts?: string[]): number {
  let bytes = 2 + Math.max(0, items.length - 1);
  for (const item of items) bytes += valueBytes(item, longTexts);
  return bytes;
}

/** Returns the `jsonBytes` of an object. `counted` holds fields whose `jsonBytes` are known already. */
export const objectBytes = <T extends object>(fields: T, counted?: CountedFields<T>): number =>
  fieldBytes(fields, undefined, counted);

type CountedFields<T> = Readonly<Partial<Record<keyof T, number>>>;

function fieldBytes<T extends object>(fields: T, longTexts?: string[], counted?: CountedFields<T>): number {
  let bytes = 2;
  let count = 0;
  for (const name of Object.keys(fields) as (keyof T & string)[]) {
    const value = fields[name];
    if (value === undefined) continue;
    bytes += stringBytes(name) + 1 + (counted?.[name] ?? valueBytes(value, longTexts));
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
