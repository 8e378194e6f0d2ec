import { isUtf8 } from "node:buffer";
import { randomBytes } from "node:crypto";
import { createServer, type IncomingMessage, type Server } from "node:http";
import type { Duplex } from "node:stream";
import { setImmediate } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "portable-ws";
import { createTurnSlice, skipSlice } from "../base/scheduling/time-slice.ts";
import { type Access, acceptUpgrade, isOwnUser, rejectUpgrade } from "./admission.ts";
import { builtinsOf } from "./builtins.ts";
import { Channels } from "./channels.ts";
import { type ConnectionOptions, type RecordedFrame, WorkerConnection } from "./connection.ts";
import {
  type Decoded,
  isLargeFrame,
  type Json,
  type Payload,
  parseFrame,
  parseLargeFrame,
  sortFrameKeys,
  WrittenJson,
} from "./frames.ts";
import { boundIncompleteRequests, requestMilliseconds } from "./incomplete-requests.ts";
import { EngineFailure, stopped } from "./invocations.ts";
import { ownerOfProbe, ownerOf as ownerOfSocket } from "./peer.ts";
import { Router } from "./router.ts";

export { EngineFailure, type RecordedFrame };

export interface EngineOptions extends ConnectionOptions {
  /** The TCP port on 127.0.0.1. Default: 0, which takes any free one. */
  readonly port?: number;
  /**
   * A part of the address that admits programs of other users too. By default there is none, and the engine
   * refuses them; if the system does not show the owner of a connection, the engine makes a token.
   */
  readonly token?: string | undefined;
  /** Returns the owner of a connection. Default: as the system shows it. For tests with other users. */
  readonly ownerOf?: Access["ownerOf"];
  /** Maximum concurrent connections; further ones are refused with 503. Default: 128. */
  readonly maxConnections?: number;
  /**
   * Maximum message size in bytes. A longer message costs its sender the connection. Default: 16 MiB, as in
   * the production engine.
   */
  readonly maxMessageBytes?: number;
  /** The router to use instead of that of iii 0.22, for tests; its engine functions replace the engine's. */
  readonly router?: Router;
}

export interface Engine {
  /**
   * The address that workers connect to: `ws://127.0.0.1:PORT`, followed by `/TOKEN` if a token is required.
   */
  readonly url: string;
  /**
   * Calls a function as the engine itself, so the payload gets no `_caller_worker_id`. Resolves to the
   * result, `undefined` for null. Rejects with an `EngineFailure`. Waits without limit for the worker that
   * has the call.
   */
  call(functionId: string, payload: unknown, options?: { metadata?: unknown }): Promise<unknown>;
  /** Resolves once a function is registered. Rejects if the engine stops before. */
  waitForFunction(id: string): Promise<void>;
  /**
   * Returns the number of bytes sent to the worker of this id that it has not read, or 0 if it is not
   * connected. Large frames that are being parsed count too, as they may be for that worker.
   */
  unsentBytesTo(workerId: string): number;
  /** Cuts all connections like a crash would. Nothing registered over them is left when this returns. */
  dropConnections(): void;
  /** Cuts all connections, and frees the port. */
  stop(): Promise<void>;
}

/**
 * Starts an iii engine inside this process, on loopback only, for trials and tests (bus §10). It speaks the
 * protocol of iii 0.22 with the same limits and losses as the production engine, and has no queues, HTTP
 * functions, access rules or triggers of its own. Rejects with the error of `listen` if it cannot have the
 * port (`code` is "EADDRINUSE" if it is taken).
 */
export async function startEngine(options: EngineOptions = {}): Promise<Engine> {
  const access = await accessOf(options);
  const { router = new Router() } = options;
  const channels = new Channels();
  for (const [id, builtin] of builtinsOf(router, channels))
    if (!router.builtins.has(id)) router.builtins.set(id, builtin);
  const sockets = new WebSocketServer({
    noServer: true,
    maxPayload: options.maxMessageBytes ?? 16 * 1024 * 1024,
    perMessageDeflate: false,
  });
  const server = createServer(
    {
      headersTimeout: requestMilliseconds,
      requestTimeout: requestMilliseconds,
      connectionsCheckingInterval: requestMilliseconds / 5,
    },
    (_request, response) => void response.writeHead(426, { connection: "close" }).end(),
  );
  boundIncompleteRequests(server);
  server.on("upgrade", (request: IncomingMessage, stream: Duplex, head: Buffer) => {
    const enterWorker = (socket: WebSocket): void => serveWorker(router, socket, options);
    const enter =
      sockets.clients.size < (options.maxConnections ?? 128)
        ? acceptUpgrade(request, { access, channels, enterWorker })
        : 503;
    if (typeof enter === "number") {
      rejectUpgrade(stream, enter);
      return;
    }
    sockets.handleUpgrade(request, stream, head, (socket) => {
      // A broken frame or one over the limit ends the connection at once: a closing handshake would wait for
      // the peer.
      socket.on("error", () => socket.terminate());
      enter(socket);
    });
  });
  const address = `ws://127.0.0.1:${await listen(server, options.port ?? 0)}`;
  const url = access.token === undefined ? address : `${address}/${encodeURIComponent(access.token)}`;
  return engineOn({ url, router, channels, sockets, server });
}

/** Returns the rules of `options`, with a new token if the system does not show the owner of a connection. */
async function accessOf({ token, ownerOf = ownerOfSocket }: EngineOptions): Promise<Access> {
  const isDecidable = token !== undefined || isOwnUser(await ownerOfProbe(ownerOf));
  return { token: isDecidable ? token : randomBytes(16).toString("hex"), ownerOf };
}

interface Parts {
  readonly url: string;
  readonly router: Router;
  readonly channels: Channels;
  readonly sockets: WebSocketServer;
  readonly server: Server;
}

function engineOn({ url, router, channels, sockets, server }: Parts): Engine {
  const stopping = new AbortController();
  const dropConnections = (): void => {
    for (const worker of router.workers) router.leave(worker);
    channels.dropAll();
    for (const socket of sockets.clients) socket.terminate();
  };
  return {
    url,
    call: (functionId, payload, { metadata } = {}) => callAsEngine(router, functionId, { payload, metadata }),
    waitForFunction: (id) => waitForFunction(router, id, stopping.signal),
    unsentBytesTo(workerId) {
      const workers = [...router.workers];
      const receiver = workers.find(({ id }) => id === workerId);
      if (receiver === undefined) return 0;
      return workers.reduce((sum, { unparsedLength }) => sum + unparsedLength, receiver.unsentBytes);
    },
    dropConnections,
    stop: async () => {
      stopping.abort(new EngineFailure(stopped));
      const closed = new Promise<void>((resolve) => server.close(() => resolve()));
      dropConnections();
      server.closeAllConnections();
      await closed;
    },
  };
}

const defaultMaxUnparsedLength = 256 * 1024 * 1024;

/** The slice of the frames of all workers: one packet may bring thousands. */
const receiving = createTurnSlice();

function serveWorker(router: Router, socket: WebSocket, options: ConnectionOptions): void {
  const worker = new WorkerConnection(socket, options);
  const receive = (text: string, { frame, fault }: Decoded): void => {
    worker.record(text, fault);
    if (frame !== undefined) router.receive(worker, frame);
  };
  const { maxUnparsedLength = defaultMaxUnparsedLength } = options;
  const underWay = new Set<Promise<void>>();
  const receiveLarge = async (data: Buffer): Promise<void> => {
    const { length } = data;
    if (worker.unparsedLength + length > maxUnparsedLength) {
      worker.cut();
      return;
    }
    worker.unparsedLength += length;
    // The turn that received it has lasted long enough.
    await setImmediate();
    const text = data.toString();
    const decoded = await parseLargeFrame(text);
    worker.unparsedLength -= length;
    if (!router.workers.has(worker)) return;
    // Only calls and results may be overtaken by frames that come after them.
    const mayWait = ["invokefunction", "invocationresult"].includes(decoded.frame?.type ?? "");
    receive(text, mayWait || decoded.fault ? decoded : { fault: "too large" });
  };
  const take = (data: Buffer, binary: boolean): void => {
    // A frame may still arrive after its connection was retired.
    if (!router.workers.has(worker) || (binary && isTelemetry(data))) return;
    if (binary && !isUtf8(data)) {
      worker.record("", "not UTF-8");
      return;
    }
    if (!isLargeFrame(data)) {
      skipSlice();
      const text = data.toString();
      receive(text, parseFrame(text));
      return;
    }
    const received = receiveLarge(data).finally(() => underWay.delete(received));
    underWay.add(received);
  };
  const frames = takeInTurns(socket, take);
  socket.on("close", async () => {
    // Answers that came before the end are passed on.
    await frames.rest();
    if (underWay.size > 0) await Promise.all(underWay);
    router.leave(worker);
  });
  router.join(worker);
}

/**
 * Passes on the frames of a socket in order, in several turns of the event loop if many come together. `rest`
 * resolves when all have been passed on.
 */
function takeInTurns(socket: WebSocket, take: (data: Buffer, binary: boolean) => void) {
  const waiting: { readonly data: Buffer; readonly binary: boolean }[] = [];
  let taking = Promise.resolve();
  const takeWaiting = async (): Promise<void> => {
    socket.pause();
    for (let next = waiting[0]; next !== undefined; waiting.shift(), next = waiting[0]) {
      await receiving.yieldIfDue();
      take(next.data, next.binary);
    }
    socket.resume();
  };
  socket.on("message", (data: Buffer, binary) => {
    if (waiting.length === 0 && !receiving.isDue) take(data, binary);
    else if (waiting.push({ data, binary }) === 1) taking = takeWaiting();
  });
  return { rest: (): Promise<void> => taking };
}

/**
 * Returns whether a binary frame is telemetry, which SDKs may send over the worker's own socket. The engine
 * discards it.
 */
function isTelemetry(data: Buffer): boolean {
  return /^(OTLP|MTRC|LOGS)/.test(data.subarray(0, 4).toString());
}

function callAsEngine(
  router: Router,
  function_id: string,
  { payload, metadata }: { payload: unknown; metadata: unknown },
): Promise<unknown> {
  return new Promise((resolve, reject) => {
    const call = { function_id, data: toJson(payload) ?? null, metadata: toJson(metadata) };
    router.route(call, undefined, ({ result, error }) => {
      if (error !== undefined) reject(new EngineFailure(error));
      else resolve(result === undefined ? undefined : parsedResult(result));
    });
  });
}

const parsedResult = (result: Payload): Json =>
  sortFrameKeys(result instanceof WrittenJson ? result.parse() : result);

function toJson(value: unknown): Json | undefined {
  const text = JSON.stringify(value);
  return text === undefined ? undefined : JSON.parse(text);
}

function waitForFunction(router: Router, id: string, stop: AbortSignal): Promise<void> {
  return new Promise((resolve, reject) => {
    stop.throwIfAborted();
    const abort = (): void => reject(stop.reason);
    stop.addEventListener("abort", abort, { once: true });
    router.whenRegistered(id, () => {
      stop.removeEventListener("abort", abort);
      resolve();
    });
  });
}

function listen(server: Server, port: number): Promise<number> {
  return new Promise((resolve, reject) => {
    server.once("error", reject);
    server.listen(port, "127.0.0.1", () => {
      server.off("error", reject);
      const address = server.address();
      resolve(typeof address === "object" && address !== null ? address.port : port);
    });
  });
}
