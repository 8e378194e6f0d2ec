import {
  INTERNAL_ERROR,
  isJSONRPCErrorResponse,
  isJSONRPCRequest,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type RequestId,
  WebStandardStreamableHTTPServerTransport,
} from "@modelcontextprotocol/server";
import { CallOrder } from "../../calls/call-order.ts";
import { cancelledRequest, repeatedId } from "./messages.ts";
import { refusedResponse } from "./refusals.ts";
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
  /** The pending requests by id. */
  readonly #pending = new Map<RequestId, Post>();
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
    const ids = messages.filter(isJSONRPCRequest).map(({ id }) => id);
    const repeated = ids.find((id, index) => this.#pending.has(id) || ids.indexOf(id) < index);
    if (repeated !== undefined)
      return settledAnswer(refusedResponse(repeatedId(repeated, Array.isArray(body))));
    const post = new Post(ids);
    for (const id of ids) this.#pending.set(id, post);
    let isTaken = false;
    try {
      const response = await this.#respond(request, body);
      isTaken = response.ok;
      // The SDK has taken the cancellations in the body, too.
      if (isTaken) for (const message of messages) this.#noteCancellation(message);
      const isStream = isTaken && request.method === "GET";
      return { response: isStream ? this.#notifications.through(response) : response, settled: post.settled };
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
    for (const id of [...this.#pending.keys()]) this.#settle(id);
  }

  /** Settles a cancelled call, which gets no answer (MCP 2025-11-25, basic/utilities/cancellation). */
  #noteCancellation(message: unknown): void {
    const id = cancelledRequest(message);
    if (id === undefined) return;
    this.#pending.get(id)?.cancelled.add(id);
    this.#settle(id);
  }

  #settle(id: RequestId): void {
    const post = this.#pending.get(id);
    if (post === undefined) return;
    this.#pending.delete(id);
    post.pending.delete(id);
    if (post.pending.size > 0) return;
    this.#endStream(post.cancelled);
    post.settle();
  }

  /**
   * Ends a stream whose requests are all answered or cancelled, if any was cancelled: the SDK waits for an
   * answer to each. It forgets a request when that is answered, and sends nothing over an ended stream.
   */
  #endStream(cancelled: ReadonlySet<RequestId>): void {
    for (const id of cancelled) this.closeSSEStream(id);
    const error = { code: INTERNAL_ERROR, message: "cancelled" };
    for (const id of cancelled) void super.send({ jsonrpc: "2.0", id, error }).catch(() => {});
  }
}

/** The requests in the body of one POST, which share a stream of answers. */
class Post {
  readonly pending: Set<RequestId>;
  readonly cancelled = new Set<RequestId>();
  /** Resolves when all requests are answered or cancelled. */
  readonly settled: Promise<void>;
  settle: () => void = () => {};

  constructor(ids: readonly RequestId[]) {
    this.pending = new Set(ids);
    this.settled = new Promise((resolve) => {
      this.settle = resolve;
    });
    if (ids.length === 0) this.settle();
  }
}

/** Returns the answer to a request whose calls have not begun. */
export const settledAnswer = (response: Response): SessionAnswer => ({
  response,
  settled: Promise.resolve(),
});
