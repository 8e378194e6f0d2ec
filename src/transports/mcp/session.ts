import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { CallOrder } from "../../calls/call-order.ts";
import { PacedStream } from "./sdk-gaps/paced-stream.ts";

/** The answer to one HTTP request of a session. */
export interface SessionAnswer {
  readonly response: Response;
  /** Resolves when no call of the request is under way any longer, perhaps after its connection was lost. */
  readonly settled: Promise<unknown>;
}

/** The SDK's transport of one session. Tracks the requests that it has not answered yet. */
export class Session extends WebStandardStreamableHTTPServerTransport {
  /** The order of the session's calls. */
  readonly order = new CallOrder();
  /** The resolvers of pending requests by id, oldest first. A client may reuse an id while it waits. */
  readonly #pending = new Map<RequestId, (() => void)[]>();
  /**
   * The stream that the client opens for messages that belong to no request (MCP 2025-11-25,
   * basic/transports).
   */
  readonly #notifications = new PacedStream();

  /** Returns whether a call is under way. */
  get isBusy(): boolean {
    return this.#pending.size > 0;
  }

  /** Resolves when the client has a stream for notifications, and has read everything sent over it. */
  ready(): Promise<void> {
    return this.#notifications.ready();
  }

  /** Answers a request, whose parsed body is `body`. */
  async answer(request: Request, body: unknown): Promise<SessionAnswer> {
    const messages = [body].flat();
    for (const message of messages) this.#noteCancellation(message);
    const ids = messages.filter(isJSONRPCRequest).map(({ id }) => id);
    const settled = Promise.all(ids.map((id) => this.#add(id)));
    let isTaken = false;
    try {
      const response = await this.#respond(request, body);
      isTaken = response.ok;
      const isStream = isTaken && request.method === "GET";
      return { response: isStream ? this.#notifications.through(response) : response, settled };
    } finally {
      if (!isTaken) for (const id of ids) this.#settle(id);
    }
  }

  /**
   * Replaces a stream of notifications that is still open. Its client may have lost the connection before the
   * server notices.
   */
  async #respond(request: Request, body: unknown): Promise<Response> {
    const respond = () => this.handleRequest(request, body === undefined ? {} : { parsedBody: body });
    const response = await respond();
    if (request.method !== "GET" || response.status !== 409) return response;
    this.closeStandaloneSSEStream();
    return respond();
  }

  override async send(message: JSONRPCMessage, options?: { relatedRequestId?: RequestId }): Promise<void> {
    try {
      await super.send(message, options);
    } finally {
      const isAnswer = isJSONRPCResultResponse(message) || isJSONRPCErrorResponse(message);
      if (isAnswer && message.id !== undefined) this.#settle(message.id);
    }
  }

  override async close(): Promise<void> {
    await super.close();
    for (const resolve of [...this.#pending.values()].flat()) resolve();
    this.#pending.clear();
  }

  /** Settles a cancelled call, which gets no answer (MCP 2025-11-25, basic/utilities/cancellation). */
  #noteCancellation(message: unknown): void {
    if (!isJSONRPCNotification(message) || message.method !== "notifications/cancelled") return;
    this.#settle(message.params?.["requestId"] as RequestId);
  }

  #add(id: RequestId): Promise<void> {
    return new Promise((resolve) => this.#pending.set(id, [...(this.#pending.get(id) ?? []), resolve]));
  }

  #settle(id: RequestId): void {
    const [oldest, ...others] = this.#pending.get(id) ?? [];
    oldest?.();
    if (others.length > 0) this.#pending.set(id, others);
    else this.#pending.delete(id);
  }
}
