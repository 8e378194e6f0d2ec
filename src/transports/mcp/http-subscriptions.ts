/**
 * Answers `subscriptions/listen` over HTTP with a stream of events, for as long as the client keeps it open.
 */
import { AsyncLocalStorage } from "node:async_hooks";
import type { JSONRPCRequest, ServerEvent, ServerEventBus } from "@modelcontextprotocol/server";
import { PacedStream } from "./sdk-gaps/paced-stream.ts";
import { beginListen } from "./subscriptions.ts";
import type { ToolHost } from "./tool-host.ts";

/** Receives the events of one stream. */
type Listener = (event: ServerEvent) => void;

/** A request that is being answered. */
interface Listening {
  /** Absent until the SDK has begun the stream. */
  listener?: Listener;
  readonly close: () => void;
}

/**
 * The SDK's bus of events. Each stream gets its own, so that a client receives only its own subscriptions.
 */
export class HttpListens implements ServerEventBus {
  readonly #host: ToolHost;
  readonly #current = new AsyncLocalStorage<Listening>();

  constructor(host: ToolHost) {
    this.#host = host;
  }

  /**
   * Answers the request with the response of `respond`, and notifies its client of changes until the stream
   * ends.
   */
  async answer(
    request: JSONRPCRequest,
    respond: (request: JSONRPCRequest) => Promise<Response>,
  ): Promise<Response> {
    const stream = new PacedStream();
    const watch = this.#host.watchResources({
      ready: () => stream.ready(),
      resourceUpdated: async (uri) => listening.listener?.({ kind: "resource_updated", uri }),
      resourceListChanged: async () => listening.listener?.({ kind: "resources_list_changed" }),
    });
    if (watch === undefined) return respond(request);
    const listening: Listening = { close: () => watch.close() };
    try {
      const begun = await beginListen(watch, request);
      return stream.through(await this.#current.run(listening, () => respond(begun)));
    } finally {
      if (listening.listener === undefined) watch.close();
    }
  }

  subscribe(listener: Listener): () => void {
    const listening = this.#current.getStore();
    if (listening !== undefined) listening.listener = listener;
    return () => listening?.close();
  }

  /** No event is for all streams. */
  publish(): void {}
}
