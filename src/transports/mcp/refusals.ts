/** Answers over HTTP to refused requests. */
import type { ServerResponse } from "node:http";
import type { RequestId } from "@modelcontextprotocol/server";
import type { RefusedMessage } from "./messages.ts";

/** The seconds after which a client may try again (RFC 9110, 10.2.3). */
const retrySeconds = "5";

/** Returns the body of a refusal. */
const errorBody = (sentence: string, id: RequestId | null = null) => ({
  jsonrpc: "2.0",
  id,
  error: { code: -32_000, message: sentence },
});

/** Returns a response with status 503, for a server that is currently full. */
export const busyResponse = (sentence: string, id: RequestId | null): Response =>
  Response.json(errorBody(sentence, id), { status: 503, headers: { "retry-after": retrySeconds } });

/** Returns a response with status 404 for a session that has ended, so that the client begins another. */
export const endedResponse = (id: RequestId | null): Response =>
  Response.json(errorBody("This session has ended; send initialize to begin another.", id), { status: 404 });

/** Returns a response with status 400 for a request that needs a session and names none. */
export const withoutSessionResponse = (id: RequestId | null): Response =>
  Response.json(
    errorBody(
      "This request names no session, so nothing was carried out. Send initialize, and with each later request the header Mcp-Session-Id of its answer.",
      id,
    ),
    { status: 400 },
  );

/** Returns a response with status 400 and the answer to a malformed message. */
export const refusedResponse = (refusal: RefusedMessage): Response => Response.json(refusal, { status: 400 });

/** Refuses a request and closes its connection, without reading the rest of the body. */
export function refuseRequest(outgoing: ServerResponse, status: number, refusal: string | object): void {
  const headers = {
    "content-type": "application/json",
    connection: "close",
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    ...(status === 415 && { "accept-encoding": "identity" }),
    ...(status === 503 && { "retry-after": retrySeconds }),
  };
  outgoing
    .writeHead(status, headers)
    .end(JSON.stringify(typeof refusal === "string" ? errorBody(refusal) : refusal));
}
