import { randomUUID } from "node:crypto";
import {
  isInitializeRequest,
  isJSONRPCRequest,
  type RequestId,
  type Server,
} from "@modelcontextprotocol/server";
import type { Arrival } from "../../calls/call-order.ts";
import { busyResponse, endedResponse, withoutSessionResponse } from "./refusals.ts";
import { createMcpServer } from "./server.ts";
import { Session, type SessionAnswer, settledAnswer } from "./session.ts";
import { nameSession, type ToolHost } from "./tool-host.ts";

/**
 * Maximum concurrent sessions. Each takes a few kilobytes, and a further one ends the session that was idle
 * for longest.
 */
const maxSessions = 64;

/**
 * Serves clients of revisions before 2026-07-28 over HTTP: a handshake opens a session, and later requests
 * name its id in a header (MCP 2025-11-25, basic/transports). Without a session, a cancellation would find no
 * call.
 */
export class Sessions {
  /** The open sessions, in the order of last use. */
  readonly #open = new Map<string, Session>();
  /** The number of handshakes under way, which have no session yet. */
  #opening = 0;
  readonly #host: ToolHost;

  constructor(host: ToolHost) {
    this.#host = host;
  }

  /**
   * Answers a request of such a client, whose parsed body is `body`: 404 for an unknown session, which makes
   * the client start over, and 503 for a handshake while all sessions have calls under way.
   */
  async answer(request: Request, body: unknown): Promise<SessionAnswer> {
    const id = request.headers.get("mcp-session-id");
    if (id === null) return this.#begin(request, body);
    const session = this.#open.get(id);
    if (session === undefined) return settledAnswer(endedResponse(idOf(body)));
    this.#open.delete(id);
    this.#open.set(id, session);
    return session.answer(request, body);
  }

  /** Takes the next place in the order of a session, for a message whose headers alone have arrived. */
  arrive(id: string | undefined): Arrival | undefined {
    return id === undefined ? undefined : this.#open.get(id)?.order.arrive();
  }

  /** Ends all sessions, and the calls that are under way in them. */
  async close(): Promise<void> {
    await Promise.all([...this.#open.values()].map((session) => session.close()));
  }

  async #begin(request: Request, body: unknown): Promise<SessionAnswer> {
    // The SDK refuses other methods, and other types of bodies.
    const isRead = body !== undefined || ["GET", "DELETE"].includes(request.method);
    if (isRead && ![body].flat().some(isInitializeRequest))
      return settledAnswer(withoutSessionResponse(idOf(body)));
    if (isInitializeRequest(body) && !this.#makeRoom())
      return settledAnswer(
        busyResponse(`All ${maxSessions} sessions have calls under way; try again.`, idOf(body)),
      );
    this.#opening++;
    try {
      return await this.#handshake(request, body);
    } finally {
      this.#opening--;
    }
  }

  async #handshake(request: Request, body: unknown): Promise<SessionAnswer> {
    const session: Session = new Session({
      sessionIdGenerator: randomUUID,
      onsessioninitialized: (id) => void this.#open.set(id, session),
    });
    const watch = this.#host.watchResources({
      ready: () => session.ready(),
      resourceUpdated: (uri) => server.sendResourceUpdated({ uri }),
      resourceListChanged: () => server.sendResourceListChanged(),
    });
    const server: Server = createMcpServer(this.#host, { session: nameSession(), watch });
    await server.connect(session);
    server.onclose = () => {
      watch?.close();
      this.#open.delete(session.sessionId ?? "");
    };
    const answer = await session.answer(request, body);
    if (session.sessionId === undefined) await server.close();
    return answer;
  }

  /** Makes room for another session, if necessary by ending an idle one. Returns false if it cannot. */
  #makeRoom(): boolean {
    if (this.#open.size + this.#opening < maxSessions) return true;
    const [id, idle] = [...this.#open].find(([, session]) => !session.isBusy) ?? [];
    if (id === undefined) return false;
    this.#open.delete(id);
    void idle?.close();
    return true;
  }
}

/** Returns the id of a request, or null for a batch and for what is not a request. */
const idOf = (body: unknown): RequestId | null => (isJSONRPCRequest(body) ? body.id : null);
