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

/**
 * Parses JSON, a text or its UTF-8, in time slices, once there is room for it beside others; the smallest
 * comes first. Resolves to the value that `JSON.parse` returns, and ignores a byte order mark. Rejects with
 * `TooManyTokens` if it has more than `maxTokens` values, keys and punctuation marks, with `TooManyKeys`, and
 * with another error for what is not JSON.
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

/** Returns the UTF-8 of `json`, in pieces that are encoded when they are read. */
function* bytesOf(json: Uint8Array | string): Generator<Uint8Array> {
  if (typeof json !== "string") yield json;
  else for (const piece of piecesOf(json)) yield Buffer.from(piece);
}

function* parse(json: Uint8Array | string, maxTokens: number): Steps<unknown> {
  const parser = new JSONParser({ paths: ["$"] });
  Object.assign((parser as unknown as { tokenizer: object }).tokenizer, {
    bufferedString: new TextBuilder(),
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
        outer.push(keys);
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
