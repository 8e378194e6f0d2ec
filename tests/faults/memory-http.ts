/** An MCP client over HTTP without an SDK, which can stop reading its answers. */
import { once } from "node:events";
import { Agent, type IncomingMessage, request } from "node:http";
import { text } from "node:stream/consumers";
import type { Ending, ReadingClient } from "./memory-peers.ts";

const rpc = (id: number, method: string, params: object) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });

const readFile = (id: number, path: string) =>
  rpc(id, "tools/call", { name: "coder_read_file", arguments: { path } });

const initialize = rpc(0, "initialize", {
  protocolVersion: "2025-11-25",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});

/** Returns the ending of a call from the message with its answer, without parsing it. */
const endingOf = (message: string): Ending => (/"isError":true/.test(message) ? "refused" : "answered");

/** Connects a client to `port`, with one session, and with a connection for each call. */
export async function connectMcpHttp(port: number): Promise<ReadingClient> {
  const agent = new Agent();
  const session = (await post(port, agent, initialize)).headers["mcp-session-id"] as string;
  const paused = { until: Promise.resolve(), end: () => {} };
  let last = 0;
  return {
    async read(path) {
      const response = await post(port, agent, readFile(++last, path), { "mcp-session-id": session });
      await paused.until;
      return endingOf(await text(response));
    },
    pause() {
      const { promise, resolve } = Promise.withResolvers<void>();
      Object.assign(paused, { until: promise, end: resolve });
    },
    resume: () => paused.end(),
    isApartFrom: (other) => other !== undefined,
  };
}

async function post(
  port: number,
  agent: Agent,
  body: string,
  more: Record<string, string> = {},
): Promise<IncomingMessage> {
  const headers = {
    "content-type": "application/json",
    accept: "application/json, text/event-stream",
    ...more,
  };
  const sending = request({ host: "127.0.0.1", port, path: "/mcp", method: "POST", headers, agent });
  const [response] = (await once(sending.end(body), "response")) as [IncomingMessage];
  return response;
}
