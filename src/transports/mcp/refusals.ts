/** Answers over HTTP to refused requests. */
import type { ServerResponse } from "node:http";

/** The seconds after which a client may try again (RFC 9110, 10.2.3). */
const retrySeconds = "5";

/** Returns the body of a refusal, which belongs to no request. */
const errorBody = (sentence: string) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message: sentence },
});

/** Returns a response with status 503, for a server that is currently full. */
export const busyResponse = (sentence: string): Response =>
  Response.json(errorBody(sentence), { status: 503, headers: { "retry-after": retrySeconds } });

/** Returns a response with status 404 for a session that has ended, so that the client begins another. */
export const endedResponse = (): Response =>
  Response.json(errorBody("This session has ended; send initialize to begin another."), { status: 404 });

/** Refuses a request and closes its connection, without reading the rest of the body. */
export function refuseRequest(outgoing: ServerResponse, status: number, refusal: string | object): void {
  const headers = {
    "content-type": "application/json",
    connection: "close",
    ...(status === 401 && { "www-authenticate": "Bearer" }),
    ...(status === 503 && { "retry-after": retrySeconds }),
  };
  outgoing
    .writeHead(status, headers)
    .end(JSON.stringify(typeof refusal === "string" ? errorBody(refusal) : refusal));
}
