/** Converts between `node:http` and the web's requests and responses, which the SDK uses. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { joinInSteps } from "../../base/scheduling/join-bytes.ts";
import { createTimeSlice, runInSlices } from "../../base/scheduling/time-slice.ts";
import { ChunkLimit } from "../../serve/http-walls/chunk-limit.ts";
import type { BodyShare } from "./body-budget.ts";
import type { LateJson } from "./sdk-gaps/late-json.ts";

/** Thrown if the body exceeds its limit. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** Thrown if all bodies under way together have reached their limit. */
export class BodiesTooLarge extends Error {
  override readonly name = "BodiesTooLarge";
}

/** Converts a request, without its body, with `signal` as its signal. */
export function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  if (takesAll(headers.get("accept") ?? "")) headers.set("accept", answerTypes.join(", "));
  const { method = "GET", url = "/" } = incoming;
  return new Request(new URL(url, "http://localhost").href, { method, headers, signal });
}

/** The types of an answer. The SDK requires a client to name both. */
const answerTypes = ["application/json", "text/event-stream"];

/**
 * Returns whether a client accepts both types of answers by a pattern, or by naming none (RFC 9110, 12.5.1).
 */
function takesAll(accept: string): boolean {
  const ranges = accept.split(",").map((range) => range.split(";", 1)[0]!.trim().toLowerCase());
  const takes = (type: string) =>
    ["", "*/*", `${type.split("/", 1)[0]}/*`, type].some((range) => ranges.includes(range));
  return answerTypes.every(takes);
}

export interface BodyLimits {
  /** Maximum bytes of this body. */
  readonly maxBytes: number;
  /** The share in the budget of all bodies. */
  readonly share: BodyShare;
}

/** Reads the whole body. Throws `BodyTooLarge`, `BodiesTooLarge` or `TooManyChunks`. */
export async function readBody(incoming: IncomingMessage, { maxBytes, share }: BodyLimits): Promise<Buffer> {
  if (Number(incoming.headers["content-length"]) > maxBytes) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let hasRoom = true;
  const limit = new ChunkLimit();
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    limit.add(chunk);
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyTooLarge();
    hasRoom &&= share.grow(chunk.length);
    if (hasRoom) chunks.push(chunk);
    else {
      chunks.length = 0;
      share[Symbol.dispose]();
    }
  }
  // Only after the whole body, because a client that is still sending may miss an answer.
  if (!hasRoom) throw new BodiesTooLarge();
  return runInSlices(joinInSteps(chunks), createTimeSlice());
}

/**
 * Sends `response` chunk by chunk, with the values of `late`. A client that disconnects cancels the rest.
 */
export async function sendResponse(
  response: Response,
  outgoing: ServerResponse,
  late: LateJson,
): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  // A stream of notifications may have nothing to send for long, and its client waits to know that it is
  // open.
  if (outgoing.req.method === "GET") outgoing.flushHeaders();
  if (response.body === null) outgoing.end();
  else await pipeline(late.fill(Readable.fromWeb(response.body as never)), outgoing).catch(ignoreDeparture);
}

function ignoreDeparture(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
}
