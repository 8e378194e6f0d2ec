/** Between the requests of `node:http` and those of the web, which the SDK takes. */
import type { IncomingMessage, ServerResponse } from "node:http";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import type { BodyShare } from "./body-budget.ts";

/** The body has more bytes than it may. */
export class BodyTooLarge extends Error {
  override readonly name = "BodyTooLarge";
}

/** All bodies that are being received or worked on have as many bytes as they may. */
export class BodiesTooLarge extends Error {
  override readonly name = "BodiesTooLarge";
}

/** A request without its body, whose signal is `signal`. */
export function toRequest(incoming: IncomingMessage, signal: AbortSignal): Request {
  const headers = new Headers();
  for (const [name, value] of Object.entries(incoming.headers))
    for (const one of [value].flat()) if (one !== undefined) headers.append(name, one);
  const { method = "GET", url = "/" } = incoming;
  return new Request(new URL(url, "http://localhost").href, { method, headers, signal });
}

export interface BodyLimits {
  /** Of this body, in bytes. */
  readonly maxBytes: number;
  /** Of all bodies. */
  readonly share: BodyShare;
}

/** The whole body as text. Throws `BodyTooLarge` or `BodiesTooLarge`. */
export async function readBody(incoming: IncomingMessage, { maxBytes, share }: BodyLimits): Promise<string> {
  if (Number(incoming.headers["content-length"]) > maxBytes) throw new BodyTooLarge();
  const chunks: Buffer[] = [];
  let bytes = 0;
  let hasRoom = true;
  for await (const chunk of incoming as AsyncIterable<Buffer>) {
    bytes += chunk.length;
    if (bytes > maxBytes) throw new BodyTooLarge();
    hasRoom &&= share.grow(chunk.length);
    if (hasRoom) chunks.push(chunk);
    else {
      chunks.length = 0;
      share[Symbol.dispose]();
    }
  }
  // Only now: a client that is still sending may never see an answer.
  if (!hasRoom) throw new BodiesTooLarge();
  return Buffer.concat(chunks).toString();
}

/** Sends `response`, piece by piece as they come; a client that leaves cancels what is still to come. */
export async function sendResponse(response: Response, outgoing: ServerResponse): Promise<void> {
  outgoing.writeHead(response.status, Object.fromEntries(response.headers));
  if (response.body === null) outgoing.end();
  else await pipeline(Readable.fromWeb(response.body as never), outgoing).catch(ignoreDeparture);
}

function ignoreDeparture(error: NodeJS.ErrnoException): void {
  if (error.code !== "ERR_STREAM_PREMATURE_CLOSE") throw error;
}
