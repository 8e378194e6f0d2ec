import { randomUUID } from "node:crypto";
import { WebStandardStreamableHTTPServerTransport as Transport } from "@modelcontextprotocol/server";
import type { Desk } from "./desk.ts";
import { maxMessageBytes } from "./served.ts";
import { openServer } from "./server.ts";

/** Sessions held at once. Each holds a few kilobytes; one more closes the session that was silent for longest. */
const mostSessions = 64;

/**
 * Clients of the revisions before 2026-07-28 over HTTP: a handshake opens a session, and its number in a header ties
 * later requests to it (MCP 2025-11-25, basic/transports). Without one, a cancellation would find no call.
 */
export class Sessions {
  /** In the order of last use. */
  readonly #open = new Map<string, Transport>();
  readonly #desk: Desk;

  constructor(desk: Desk) {
    this.#desk = desk;
  }

  /** Answers a request of such a client: 404 for a session that is not there, which tells it to start over. */
  async answer(request: Request): Promise<Response> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(request);
    const transport = this.#open.get(id);
    if (transport === undefined) return Response.json({ error: "This session has ended." }, { status: 404 });
    this.#keep(id, transport);
    return transport.handleRequest(request);
  }

  /** Ends all sessions, with the calls that are under way in them. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((transport) => transport.close()));
  }

  async #begin(request: Request): Promise<Response> {
    const transport = new Transport({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => this.#keep(id, transport),
      maxRequestBodySize: maxMessageBytes,
    });
    const server = openServer(this.#desk);
    await server.connect(transport);
    server.onclose = () => void this.#open.delete(transport.sessionId ?? "");
    const response = await transport.handleRequest(request);
    if (transport.sessionId === undefined) await server.close();
    return response;
  }

  #keep(id: string, transport: Transport): void {
    this.#open.delete(id);
    this.#open.set(id, transport);
    const [oldest] = this.#open.values();
    if (this.#open.size > mostSessions) void oldest?.close();
  }
}
