/** Answers over HTTP to what is not worked on. */
import type { ServerResponse } from "node:http";

/** Seconds after which a client may try again (RFC 9110, 10.2.3). */
const retrySeconds = "5";

/** What the bodies of refusals hold, which belong to no request. */
const errorBody = (sentence: string) => ({
  jsonrpc: "2.0",
  id: null,
  error: { code: -32_000, message: sentence },
});

/** 503: there is no room just now. */
export const busyResponse = (sentence: string): Response =>
  Response.json(errorBody(sentence), { status: 503, headers: { "retry-after": retrySeconds } });

/** Refuses a request, and its connection with it: what is left of a body is not read. */
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
