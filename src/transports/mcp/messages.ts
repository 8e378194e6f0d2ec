import { isUtf8 } from "node:buffer";
import {
  INVALID_REQUEST,
  type JSONRPCMessage,
  PARSE_ERROR,
  parseJSONRPCMessage,
  type RequestId,
} from "@modelcontextprotocol/server";
import { quoteVisibly } from "../../base/log/quote.ts";
import { TooManyTokens, UnreadableJson } from "../../base/scheduling/parse-json.ts";
import { maxTokens } from "../../base/schema/message-size.ts";

/** The answer to a malformed message (JSON-RPC 2.0, section 5). */
export interface RefusedMessage {
  readonly jsonrpc: "2.0";
  /** The id of the request, if it is readable. */
  readonly id: RequestId | null;
  readonly error: { readonly code: number; readonly message: string };
}

/** A message; or its refusal, and whether its sender waits for an answer, as only for a request. */
export type Reading =
  | { readonly message: JSONRPCMessage }
  | { readonly refusal: RefusedMessage; readonly isAwaited: boolean };

/** Returns the id of the request that a message cancels; `undefined` if it cancels none. */
export function cancelledRequest(message: unknown): RequestId | undefined {
  const { method, params } = Object(message) as { method?: unknown; params?: unknown };
  if (method !== "notifications/cancelled") return undefined;
  const { requestId } = Object(params) as { requestId?: unknown };
  return typeof requestId === "string" || typeof requestId === "number" ? requestId : undefined;
}

/** The answer to text that is not JSON. */
export const notJson: RefusedMessage = refusal(
  null,
  PARSE_ERROR,
  "This is not JSON; send one message of JSON-RPC 2.0.",
);

/**
 * The answer to bytes that are not UTF-8: decoded anyway, a call would write other characters than its sender
 * meant.
 */
export const notUtf8: RefusedMessage = refusal(
  null,
  PARSE_ERROR,
  "The message is not UTF-8, so nothing of it was carried out; encode it as UTF-8 and send it again.",
);

/**
 * Returns the answer to a message of more than `maxBytes`. `excerpt` is its beginning and its end. The answer
 * has the id of the request if that is among the first fields or is the last one, as SDKs write it.
 */
export function tooLarge(excerpt: Buffer, maxBytes: number): RefusedMessage {
  return refusal(
    idIn(excerpt),
    INVALID_REQUEST,
    `A message may have at most ${maxBytes} bytes, and nothing of this one was carried out; send less at once.`,
  );
}

/** Returns the answer to a message that was not parsed because of `error`. */
export function notParsed(message: Buffer, error: unknown): RefusedMessage {
  const sentence =
    error instanceof UnreadableJson
      ? `This message ${error.fault}, and nothing of it was carried out; ${error.advice}.`
      : error instanceof TooManyTokens
        ? `A message of this size may have at most ${maxTokens} values, keys and punctuation marks together, and nothing of this one was carried out; send less at once.`
        : undefined;
  if (sentence === undefined) return isUtf8(message) ? notJson : notUtf8;
  const excerpt = Buffer.concat([message.subarray(0, 512), message.subarray(-512)]);
  return refusal(idIn(excerpt), INVALID_REQUEST, sentence);
}

/** Returns the id of a request from its beginning and its end, or null if it is not readable there. */
function idIn(excerpt: Buffer): RequestId | null {
  const text = excerpt.toString();
  const [, id] = idFirst.exec(text) ?? idLast.exec(text) ?? [];
  return id === undefined ? null : JSON.parse(id);
}

/**
 * An id at the beginning or the end of a message, where no object can contain it, in characters that need no
 * escape.
 */
const idFirst =
  /^\s*\{\s*(?:"(?:jsonrpc|method)"\s*:\s*"[\w./-]*"\s*,\s*)*"id"\s*:\s*(-?\d{1,15}|"[\w-]{1,64}")\s*,/;
const idLast = /,\s*"id"\s*:\s*(-?\d{1,15}|"[\w-]{1,64}")\s*\}\s*$/;

/** Maximum messages of a batch. The SDK has the limit too, over HTTP, and checks it late. */
export const maxOfBatch = 100;

/** The answer to a batch that is empty or too large. */
export const badBatch: RefusedMessage = refusal(
  null,
  INVALID_REQUEST,
  `A batch has at least one message and at most ${maxOfBatch}; send them one by one.`,
);

/**
 * Maximum keys and items of the messages that the SDK reads in one turn. Its schemas copy each up to a dozen
 * times, which takes 8 microseconds, except those in the values of the arguments of a tool.
 */
export const maxCopied = 2000;

/** Returns the answer to a request, or to a batch if `id` is null, with more than `maxCopied`. */
export function tooManyCopied(id: RequestId | null): RefusedMessage {
  return refusal(
    id,
    INVALID_REQUEST,
    `A message, or a batch over HTTP, may have at most ${maxCopied} keys and items, besides those in the values of the \`arguments\` of a tool. Nothing of this one was carried out; send less at once.`,
  );
}

/** Counts the keys and items of a message that the SDK copies, and stops at the first one too many. */
export function countCopied(message: unknown): number {
  const uncopied = argumentsIn(message);
  let count = 0;
  for (let level = [message]; level.length > 0; ) {
    const next: unknown[] = [];
    for (const value of level) {
      if (typeof value !== "object" || value === null) continue;
      const values: readonly unknown[] = Array.isArray(value) ? value : Object.values(value);
      count += values.length;
      if (count > maxCopied) return count;
      if (value !== uncopied) next.push(...values);
    }
    level = next;
  }
  return count;
}

/** Returns the arguments in a request that calls a tool. */
function argumentsIn(message: unknown): unknown {
  if (!isRecord(message) || message["method"] !== "tools/call") return undefined;
  return isRecord(message["params"]) ? message["params"]["arguments"] : undefined;
}

/** Maximum characters of an id. Each is looked up, compared and sent back in one turn. */
export const maxIdLength = 1024;

/** The answer to a message with a longer id, which it does not repeat. */
export const longId: RefusedMessage = refusal(
  null,
  INVALID_REQUEST,
  `An id, also that of a request to cancel, and a progressToken have at most ${maxIdLength} characters, and nothing of this message was carried out; send shorter ones.`,
);

/** Returns whether its own id, that of a request to cancel or its progressToken is too long. */
export function hasLongId(message: unknown): boolean {
  const { id, params } = Object(message) as { id?: unknown; params?: unknown };
  const { requestId, _meta } = Object(params) as { requestId?: unknown; _meta?: unknown };
  const { progressToken } = Object(_meta) as { progressToken?: unknown };
  return [id, requestId, progressToken].some((one) => typeof one === "string" && one.length > maxIdLength);
}

/** Maximum characters of a value in a sentence. */
const maxQuoted = 64;

/** Quotes the beginning of a value of a client, which may have megabytes, for a sentence. */
export const quoteBriefly = (text: string): string =>
  quoteVisibly(text.length <= maxQuoted ? text : `${text.slice(0, maxQuoted)}…`);

/**
 * Returns the answer to a request with the id of another one that is still under way, or to its batch. Both
 * answers would have the id, and each could be taken for the other.
 */
export function repeatedId(id: RequestId, isInBatch = false): RefusedMessage {
  const what = isInBatch ? "nothing of this batch was" : "this one was not";
  const shown = typeof id === "number" ? id : quoteBriefly(id);
  return refusal(
    isInBatch ? null : id,
    INVALID_REQUEST,
    `The id ${shown} belongs to more than one request that is not answered yet, so ${what} carried out; send each request with an id of its own.`,
  );
}

/**
 * Reads parsed JSON as one message of JSON-RPC. More lenient than the SDK in harmless cases: it takes
 * `"params": null` and `"arguments": null` as absent, and drops unknown keys of the envelope. Never throws.
 */
export function readMessage(value: unknown): Reading {
  const fields = isRecord(value) ? value : {};
  const isRequest = Object.hasOwn(fields, "method");
  const message = isRequest ? envelopeOf(fields) : value;
  if (hasLongId(value)) return refuse(fields, longId);
  try {
    if (countCopied(message) <= maxCopied) return { message: parseJSONRPCMessage(message) };
    return refuse(fields, tooManyCopied(idOf(fields)));
  } catch {
    return refuse(fields, refusal(idOf(fields), INVALID_REQUEST, badRequest));
  }
}

function refuse(fields: Readonly<Record<string, unknown>>, answer: RefusedMessage): Reading {
  const isRequest = Object.hasOwn(fields, "method");
  const isNotification = typeof fields["method"] === "string" && !Object.hasOwn(fields, "id");
  const isResponse = !isRequest && (Object.hasOwn(fields, "result") || Object.hasOwn(fields, "error"));
  return { refusal: answer, isAwaited: !isNotification && !isResponse };
}

const badRequest =
  'This is no request of JSON-RPC 2.0: it has "jsonrpc": "2.0", an id that is a string or a whole number, a method that is a string, and params that are an object, if any; a progressToken in them is a string or a whole number.';

function envelopeOf({ jsonrpc, id, method, params }: Record<string, unknown>): Record<string, unknown> {
  return {
    jsonrpc,
    ...(id !== undefined && { id }),
    method,
    ...(params !== undefined && params !== null && { params: withoutNullArguments(params) }),
  };
}

function withoutNullArguments(params: unknown): unknown {
  if (!isRecord(params) || params["arguments"] !== null) return params;
  const { arguments: _, ...others } = params;
  return others;
}

function idOf({ id }: Record<string, unknown>): RequestId | null {
  return typeof id === "string" || typeof id === "number" ? id : null;
}

function refusal(id: RequestId | null, code: number, message: string): RefusedMessage {
  return { jsonrpc: "2.0", id, error: { code, message } };
}

const isRecord = (value: unknown): value is Record<string, unknown> =>
  typeof value === "object" && value !== null && !Array.isArray(value);
