/** Answers an authorized request over HTTP, from its body to the end of the answer. */

import { isUtf8 } from "node:buffer";
import type { IncomingMessage, ServerResponse } from "node:http";
import {
  createMcpHandler,
  isJSONRPCRequest,
  isJsonContentType,
  isLegacyRequest,
} from "@modelcontextprotocol/server";
import { quoteVisibly } from "../../base/log/quote.ts";
import { minSliced, parseInSlices, parseJson } from "../../base/scheduling/parse-json.ts";
import { createTurnSlice } from "../../base/scheduling/time-slice.ts";
import { maxTokens } from "../../base/schema/message-size.ts";
import { TooManyChunks, tooManyChunks } from "../../serve/http-walls/chunk-limit.ts";
import { BodyBudget, type BodyShare } from "./body-budget.ts";
import { currentExchange } from "./current-exchange.ts";
import { HttpListens } from "./http-subscriptions.ts";
import {
  badBatch,
  countCopied,
  hasLongId,
  longId,
  maxCopied,
  maxOfBatch,
  notParsed,
  notUtf8,
  readMessage,
  tooManyCopied,
} from "./messages.ts";
import { refuseRequest } from "./refusals.ts";
import { LateJson } from "./sdk-gaps/late-json.ts";
import { createMcpServer } from "./server.ts";
import type { SessionAnswer } from "./session.ts";
import { Sessions } from "./sessions.ts";
import { isListen, maxListens } from "./subscriptions.ts";
import type { ToolHost } from "./tool-host.ts";
import { maxMessageBytes } from "./transport.ts";
import { BodiesTooLarge, BodyTooLarge, readBody, sendResponse, toRequest } from "./web.ts";

export interface Exchange {
  /** Answers a request. Rejects if it cannot, perhaps after it has begun the answer. */
  answer(incoming: IncomingMessage, outgoing: ServerResponse): Promise<void>;
  close(): Promise<void>;
}

/** The slice of all requests: a client may send thousands in one packet, and many clients at once. */
const answering = createTurnSlice();

/**
 * Serves both kinds of client: revision 2026-07-28 needs no session, older ones get one. `bodyBytes` bounds
 * all bodies.
 */
export function createExchange(host: ToolHost, bodyBytes: number): Exchange {
  const budget = new BodyBudget(bodyBytes);
  const sessions = new Sessions(host);
  const listens = new HttpListens(host);
  const stateless = createMcpHandler(() => createMcpServer(host), {
    legacy: "reject",
    bus: listens,
    maxSubscriptions: maxListens,
    onerror: (error) => host.log.debug("bad request", { failure: error.name }),
  });
  const respond = async (request: Request, body: unknown): Promise<SessionAnswer> => {
    if (await isLegacyRequest(request, body)) return sessions.answer(request, body);
    const fetch = (parsed: unknown) =>
      stateless.fetch(request, parsed === undefined ? {} : { parsedBody: parsed });
    const response = await (isListen(body) ? listens.answer(body, fetch) : fetch(body));
    return { response, settled: Promise.resolve() };
  };
  return {
    async answer(incoming, outgoing) {
      using share = budget.open();
      const arrival = incoming.method === "POST" ? sessions.arrive(sessionOf(incoming)) : undefined;
      const left = new AbortController();
      outgoing.once("close", () => left.abort());
      const leases = host.openLeases(callerOf(incoming));
      try {
        if (answering.isDue) await answering.yieldIfDue();
        const body = await takeBody(incoming, share);
        if (body.refusal !== undefined) return refuseRequest(outgoing, body.status, body.refusal);
        arrival?.expect([body.message].flat().filter(isJSONRPCRequest).length);
        const request = toRequest(incoming, left.signal);
        const late = new LateJson();
        const { response, settled } = await currentExchange.run({ leases, arrival, late }, () =>
          respond(request, body.message),
        );
        await Promise.all([sendResponse(response, outgoing, late), settled]);
      } finally {
        arrival?.end();
        leases.releaseAll();
      }
    },
    async close() {
      await Promise.all([sessions.close(), stateless.close()]);
    },
  };
}

/** Returns the caller in the budget of answers: a session, or a connection without one. */
const callerOf = (incoming: IncomingMessage): string =>
  sessionOf(incoming) ?? `${incoming.socket.remoteAddress} ${incoming.socket.remotePort}`;

const sessionOf = ({ headers }: IncomingMessage): string | undefined => headers["mcp-session-id"]?.toString();

/** The content of a body, which is a message, a batch or nothing; or the reason for its refusal. */
type Body =
  | { readonly message: unknown; readonly refusal?: undefined }
  | { readonly status: number; readonly refusal: string | object };

async function takeBody(incoming: IncomingMessage, share: BodyShare): Promise<Body> {
  // The SDK refuses a body of another type without reading it.
  if (incoming.method !== "POST" || !isJsonContentType(incoming.headers["content-type"] ?? null))
    return { message: undefined };
  const coding = incoming.headers["content-encoding"]?.toLowerCase() ?? "identity";
  if (coding !== "identity") return { status: 415, refusal: encodedBody(coding) };
  try {
    return await parseBody(await readBody(incoming, { maxBytes: maxMessageBytes, share }));
  } catch (error) {
    if (error instanceof BodyTooLarge)
      return {
        status: 413,
        refusal: `A request may have at most ${maxMessageBytes} bytes; send less at once.`,
      };
    if (error instanceof BodiesTooLarge)
      return { status: 503, refusal: "There is no room for this request beside those under way; try again." };
    if (error instanceof TooManyChunks) return { status: 400, refusal: tooManyChunks };
    throw error;
  }
}

/** Returns the sentence for a body in a content coding such as gzip. */
const encodedBody = (coding: string): string =>
  `The header Content-Encoding is ${quoteVisibly(coding.slice(0, 60))}, and only plain bodies are read. Nothing was carried out; send the JSON itself, without that header.`;

async function parseBody(bytes: Buffer): Promise<Body> {
  let value: unknown;
  try {
    if (bytes.length >= minSliced) value = await parseInSlices(bytes, maxTokens);
    else if (isUtf8(bytes)) value = parseJson(bytes.toString());
    else return { status: 400, refusal: notUtf8 };
  } catch (error) {
    return { status: 400, refusal: notParsed(bytes, error) };
  }
  if (Array.isArray(value) && value.length > maxOfBatch) return { status: 400, refusal: badBatch };
  // The SDK accepts or refuses any other batch, in one turn.
  if (Array.isArray(value)) {
    let copied = 0;
    for (const message of value) copied += countCopied(message);
    if (copied > maxCopied) return { status: 400, refusal: tooManyCopied(null) };
    if (value.some(hasLongId)) return { status: 400, refusal: longId };
    return { message: value.map(readLeniently) };
  }
  const reading = readMessage(value);
  return "message" in reading ? reading : { status: 400, refusal: reading.refusal };
}

/** Returns the message, or a malformed one unchanged. */
function readLeniently(value: unknown): unknown {
  const reading = readMessage(value);
  return "message" in reading ? reading.message : value;
}
