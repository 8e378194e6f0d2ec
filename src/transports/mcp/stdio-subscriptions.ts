/**
 * Serves `subscriptions/listen` on stdio: sends notifications between all other messages, each with the id of
 * its request.
 */
import {
  isJSONRPCErrorResponse,
  isJSONRPCNotification,
  isJSONRPCResultResponse,
  type JSONRPCMessage,
  type JSONRPCRequest,
  type RequestId,
  SUBSCRIPTION_ID_META_KEY,
  type Transport,
} from "@modelcontextprotocol/server";
import type { ResourceWatch } from "./resource-watch.ts";
import type { LineTransport } from "./sdk-gaps/line-transport.ts";
import { beginListen, isListen } from "./subscriptions.ts";
import type { ToolHost } from "./tool-host.ts";

/** The effect of one request. */
interface Listening {
  readonly watch: ResourceWatch;
  /** Starts the notifications, after the client has been notified that its request was accepted. */
  readonly acknowledge: () => void;
}

/**
 * The transport of the SDK, which acknowledges and ends the requests. It inspects passing messages, and
 * begins the notifications of a request before the SDK gets it.
 */
export class StdioListens implements Transport {
  onclose?: () => void;
  onerror?: (error: Error) => void;
  onmessage?: Transport["onmessage"];
  readonly #host: Pick<ToolHost, "watchResources">;
  readonly #wire: LineTransport;
  readonly #open = new Map<RequestId, Listening>();
  /** The requests that have not been forwarded yet. */
  readonly #beginning = new Set<RequestId>();
  /** Resolves when these requests, and their cancellations, have been forwarded. */
  #passing: Promise<void> = Promise.resolve();

  constructor(host: Pick<ToolHost, "watchResources">, wire: LineTransport) {
    this.#host = host;
    this.#wire = wire;
  }

  async start(): Promise<void> {
    this.#wire.onmessage = (message) => this.#receive(message);
    this.#wire.onerror = (error) => this.onerror?.(error);
    this.#wire.onclose = () => {
      for (const id of this.#open.keys()) this.#end(id);
      this.onclose?.();
    };
    await this.#wire.start();
  }

  async send(message: JSONRPCMessage): Promise<void> {
    if (this.#open.size === 0) {
      await this.#wire.send(message);
      return;
    }
    if (isJSONRPCErrorResponse(message) || isJSONRPCResultResponse(message)) this.#end(message.id);
    const sent = this.#wire.send(message);
    if ("method" in message && isJSONRPCNotification(message)) this.#noteAcknowledgement(message.params);
    await sent;
  }

  close(): Promise<void> {
    return this.#wire.close();
  }

  /**
   * Forwards a message. A request is forwarded when its notifications have begun, in order, and its
   * cancellation after it. No other message waits for that.
   */
  #receive(message: JSONRPCMessage): void {
    const isRequest = isListen(message);
    const cancelled = cancelledBy(message);
    if (isRequest) this.#beginning.add(message.id);
    else if (cancelled === undefined || !this.#beginning.has(cancelled)) {
      this.#pass(message);
      return;
    }
    this.#passing = this.#passing.then(async () => {
      this.#pass(isRequest ? await this.#begin(message) : message);
      if (isRequest) this.#beginning.delete(message.id);
    });
  }

  #pass(message: JSONRPCMessage): void {
    this.#end(cancelledBy(message));
    this.onmessage?.(message);
  }

  async #begin(request: JSONRPCRequest): Promise<JSONRPCRequest> {
    const { id } = request;
    let acknowledge = () => {};
    const accepted = new Promise<void>((resolve) => {
      acknowledge = resolve;
    });
    const notify = (method: string, params: object) =>
      this.#wire.send({
        jsonrpc: "2.0",
        method,
        params: { ...params, _meta: { [SUBSCRIPTION_ID_META_KEY]: id } },
      });
    const watch = this.#host.watchResources({
      ready: () => accepted.then(() => this.#wire.ready()),
      resourceUpdated: (uri) => notify("notifications/resources/updated", { uri }),
      resourceListChanged: () => notify("notifications/resources/list_changed", {}),
    });
    if (watch === undefined) return request;
    this.#end(id);
    this.#open.set(id, { watch, acknowledge });
    return beginListen(watch, request);
  }

  #noteAcknowledgement(params: Readonly<Record<string, unknown>> = {}): void {
    const meta = params["_meta"] as Readonly<Record<string, unknown>> | undefined;
    this.#open.get(meta?.[SUBSCRIPTION_ID_META_KEY] as RequestId)?.acknowledge();
  }

  #end(id: RequestId | undefined): void {
    if (id === undefined) return;
    this.#open.get(id)?.watch.close();
    this.#open.delete(id);
  }
}

/** Returns the id of the request that the message cancels. */
const cancelledBy = (message: JSONRPCMessage): RequestId | undefined =>
  "method" in message && message.method === "notifications/cancelled" && isJSONRPCNotification(message)
    ? (message.params?.["requestId"] as RequestId | undefined)
    : undefined;
