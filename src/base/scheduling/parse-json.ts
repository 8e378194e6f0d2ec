/**
 * Parses large JSON in time slices. `JSON.parse` holds the event loop for up to 5 ms per MB of text, and for
 * 20 per MB of small values. The slices take two to five times as long together, and more if most of the text
 * is written in escape sequences.
 */
import { JSONParser, TokenType } from "@streamparser/json";
import { TextBuilder } from "./text-builder.ts";
import { piecesOf } from "./text-pieces.ts";
import { createTimeSlice, runInSlices, type Steps } from "./time-slice.ts";

/** Minimum bytes of JSON that is worth parsing in slices. */
export const minSliced = 512 * 1024;

/** Bytes of a step, which takes about a millisecond. */
const stepBytes = 8192;

/** Maximum levels of lists and objects. An engine drops deeper frames: serde_json stops at 128 (bus §0). */
export const maxDepth = 127;

/** Maximum characters of a number. Turning one of megabytes into its value takes 10 ms per MB. */
export const maxNumberLength = 1000;

/** JSON is nested too deeply, or has a number that is too long. Thrown before that value is made. */
export class UnreadableJson extends Error {
  override readonly name = "UnreadableJson";
  /** The fault, without the JSON: `nests more than 127 levels`. */
  readonly fault: string;
  /** The next message that works, without a full stop: `send fewer`. */
  readonly advice: string;

  constructor(fault: string, advice: string) {
    super(`the JSON ${fault}`);
    this.fault = fault;
    this.advice = advice;
  }
}

const tooDeep = (): UnreadableJson =>
  new UnreadableJson(
    `nests more than ${maxDepth} levels of lists and objects`,
    "no field needs so many; send fewer",
  );

const longNumber = (): UnreadableJson =>
  new UnreadableJson(
    `has a number of more than ${maxNumberLength} characters`,
    "no field takes one; send fewer digits",
  );

/** JSON has more values, keys and punctuation marks than it may have. */
export class TooManyTokens extends Error {}

/** An object in JSON has more than `maxKeys` keys. */
export class TooManyKeys extends Error {}

/** Maximum keys of one object. Whatever lists the keys of an object does so in one step. */
export const maxKeys = 100_000;

/** Maximum bytes of JSON that are being parsed at the same time. */
const maxUnderWay = 64 * 1024 * 1024;
let underWay = 0;

/** JSON that waits for room. */
const waiting: { readonly bytes: number; readonly begin: () => void }[] = [];

/** Parses a small JSON text at once. Throws an `UnreadableJson`, or a `SyntaxError` for what is not JSON. */
export function parseJson(json: string): unknown {
  requireReadable(json);
  return JSON.parse(json);
}

/** Throws an `UnreadableJson` for JSON that `parseInSlices` refuses with one. Other texts may pass. */
function requireReadable(json: string): void {
  let depth = 0;
  for (let at = 0; at < json.length; at++) {
    const unit = json.charCodeAt(at);
    if (unit === quote) at = endOfString(json, at);
    else if (unit === openBracket || unit === openBrace) {
      if (++depth > maxDepth) throw tooDeep();
    } else if (unit === closeBracket || unit === closeBrace) depth--;
    else if (unit === minus || isDigit(unit)) {
      const from = at;
      while (isOfNumber(json.charCodeAt(at + 1))) at++;
      if (at - from >= maxNumberLength) throw longNumber();
    }
  }
}

/** Returns the place of the quotation mark that ends the string that begins at `from`. */
function endOfString(json: string, from: number): number {
  let at = from + 1;
  while (at < json.length && json.charCodeAt(at) !== quote) at += json.charCodeAt(at) === backslash ? 2 : 1;
  return at;
}

const [quote, backslash] = [0x22, 0x5c];
const [openBracket, closeBracket, openBrace, closeBrace] = [0x5b, 0x5d, 0x7b, 0x7d];
const [zero, nine, minus, plus, point] = [0x30, 0x39, 0x2d, 0x2b, 0x2e];

const isDigit = (unit: number): boolean => unit >= zero && unit <= nine;

/** Returns whether a number may go on with this unit. An `e` in either case differs in one bit. */
const isOfNumber = (unit: number): boolean =>
  isDigit(unit) || unit === point || unit === minus || unit === plus || (unit | 0x20) === 0x65;

/**
 * Parses JSON, a text or its UTF-8, in time slices, once there is room for it beside others; the smallest
 * comes first. Resolves to the value that `JSON.parse` returns, and ignores a byte order mark. Rejects with
 * `TooManyTokens` if it has more than `maxTokens` values, keys and punctuation marks, with `TooManyKeys`,
 * with an `UnreadableJson`, and with another error for what is not JSON.
 */
export async function parseInSlices(
  json: Uint8Array | string,
  maxTokens = Number.POSITIVE_INFINITY,
): Promise<unknown> {
  const bytes = Buffer.byteLength(json);
  if (hasRoom(bytes)) underWay += bytes;
  else await new Promise<void>((begin) => waiting.push({ bytes, begin }));
  try {
    return await runInSlices(parse(json, maxTokens), createTimeSlice());
  } finally {
    underWay -= bytes;
    beginNext();
  }
}

/** Returns whether `bytes` more may be parsed now. JSON larger than the maximum is parsed alone. */
const hasRoom = (bytes: number): boolean => underWay === 0 || underWay + bytes <= maxUnderWay;

function beginNext(): void {
  waiting.sort((one, other) => one.bytes - other.bytes);
  while (waiting.length > 0 && hasRoom(waiting[0]!.bytes)) {
    const { bytes, begin } = waiting.shift()!;
    underWay += bytes;
    begin();
  }
}

/** Collects a number for the parser, and throws an `UnreadableJson` for a long one. */
class NumberBuilder {
  #text = "";

  get byteLength(): number {
    return this.#text.length;
  }

  appendChar(unit: number): void {
    if (this.#text.length === maxNumberLength) throw longNumber();
    this.#text += String.fromCharCode(unit);
  }

  reset(): void {
    this.#text = "";
  }

  toString(): string {
    return this.#text;
  }
}

/** Returns the UTF-8 of `json`, in pieces that are encoded when they are read. */
function* bytesOf(json: Uint8Array | string): Generator<Uint8Array> {
  if (typeof json !== "string") yield json;
  else for (const piece of piecesOf(json)) yield Buffer.from(piece);
}

function* parse(json: Uint8Array | string, maxTokens: number): Steps<unknown> {
  const parser = new JSONParser({ paths: ["$"] });
  Object.assign((parser as unknown as { tokenizer: object }).tokenizer, {
    bufferedString: new TextBuilder(),
    bufferedNumber: new NumberBuilder(),
  });
  let tokens = 0;
  /** The keys of the innermost object so far, and those of the objects and lists around it. */
  let keys = 0;
  const outer: number[] = [];
  parser.onToken = ({ token }) => {
    if (++tokens > maxTokens) throw new TooManyTokens();
    switch (token) {
      case TokenType.LEFT_BRACE:
      case TokenType.LEFT_BRACKET:
        if (outer.push(keys) > maxDepth) throw tooDeep();
        keys = 0;
        break;
      case TokenType.RIGHT_BRACE:
      case TokenType.RIGHT_BRACKET:
        keys = outer.pop() ?? 0;
        break;
      case TokenType.COLON:
        if (++keys > maxKeys) throw new TooManyKeys();
    }
  };
  let root: { readonly value: unknown } | undefined;
  parser.onValue = ({ value }) => {
    root = { value };
  };
  for (const bytes of bytesOf(json)) {
    for (let at = 0; at < bytes.length; at += stepBytes) {
      parser.write(bytes.subarray(at, at + stepBytes));
      yield;
    }
  }
  if (!parser.isEnded) parser.end();
  if (root === undefined) throw new SyntaxError("there is no value");
  return root.value;
}
