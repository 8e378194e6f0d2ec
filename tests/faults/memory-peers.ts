/** Callers without an SDK, which can stop reading their answers. */
import type { ChildProcess } from "node:child_process";
import { once } from "node:events";
import { WebSocket, WebSocketServer } from "ws";

/** The ending of a read. An error of any kind is a refusal. */
export type Ending = "answered" | "refused";

/** A caller that reads files through a worker. */
export interface ReadingClient {
  read(path: string): Promise<Ending>;
  /** Stops reading from its connection until `resume`. */
  pause(): void;
  resume(): void;
  /** Whether its connection differs from that of `other`. */
  isApartFrom(other: ReadingClient): boolean;
}

interface Wire {
  pause(): void;
  resume(): void;
}

/** The pending calls, by their IDs. */
class Calls {
  readonly #waiting = new Map<string, (ending: Ending) => void>();
  #last = 0;

  add(): { readonly id: string; readonly ending: Promise<Ending> } {
    const id = `00000000-0000-4000-8000-${String(++this.#last).padStart(12, "0")}`;
    const ending = new Promise<Ending>((resolve) => this.#waiting.set(id, resolve));
    return { id, ending };
  }

  end(id: string, error: unknown): void {
    this.#waiting.get(id)?.(error === undefined ? "answered" : "refused");
    this.#waiting.delete(id);
  }
}

const clientOn = (wire: Wire, read: ReadingClient["read"]): ReadingClient & { readonly wire: Wire } => ({
  wire,
  read,
  pause: () => wire.pause(),
  resume: () => wire.resume(),
  isApartFrom: (other) => (other as { wire?: Wire }).wire !== wire,
});

interface Frame {
  readonly type: string;
  readonly invocation_id?: string;
  readonly error?: unknown;
}

const parse = (data: unknown): Frame => JSON.parse(String(data));

/** Sends a frame that reads a file. Resolves with the ending of that call. */
function invoke(calls: Calls, socket: WebSocket, data: object): Promise<Ending> {
  const { id, ending } = calls.add();
  socket.send(
    JSON.stringify({
      type: "invokefunction",
      invocation_id: id,
      function_id: "coder::read-file",
      data,
    }),
  );
  return ending;
}

/** Connects a worker to the embedded engine at `port`. */
export async function connectWorker(port: number): Promise<ReadingClient> {
  const calls = new Calls();
  const socket = new WebSocket(`ws://127.0.0.1:${port}`);
  socket.on("message", (data) => {
    const { type, invocation_id: id, error } = parse(data);
    if (type === "invocationresult") calls.end(id!, error);
  });
  await once(socket, "open");
  return clientOn(socket, (path) => invoke(calls, socket, { path }));
}

/** Starts an engine at `port`. Resolves when a worker has registered `coder::read-file`. */
export async function startFakeEngine(port: number): Promise<{ as(caller: string): ReadingClient }> {
  const server = new WebSocketServer({ port, host: "127.0.0.1" });
  const [socket] = (await once(server, "connection")) as [WebSocket];
  const calls = new Calls();
  const ready = Promise.withResolvers<void>();
  socket.on("message", (data) => {
    const { type, invocation_id: id, error } = parse(data);
    if (type === "invocationresult") calls.end(id!, error);
    if (type === "invokefunction" && id !== undefined)
      socket.send(JSON.stringify({ ...parse(data), type: "invocationresult", result: {} }));
    if (type === "registerfunction" && String(data).includes('"coder::read-file"')) ready.resolve();
  });
  socket.on("close", () => server.close());
  await ready.promise;
  return {
    as: (caller) => clientOn(socket, (path) => invoke(calls, socket, { path, _caller_worker_id: caller })),
  };
}

/** Connects an MCP client to the pipes of `child`. */
export async function connectMcpStdio({ stdin, stdout }: ChildProcess): Promise<ReadingClient> {
  const calls = new Calls();
  const pieces: string[] = [];
  const onLine = (line: string) => {
    const { id, error, result } = JSON.parse(line);
    calls.end(String(id), error ?? (result.isError ? result : undefined));
  };
  stdout!.setEncoding("latin1").on("data", (piece: string) => {
    const [end, ...starts] = piece.split("\n");
    pieces.push(end!);
    for (const start of starts) {
      onLine(pieces.join(""));
      pieces.splice(0, pieces.length, start);
    }
  });
  const send = (message: object) => stdin!.write(`${JSON.stringify({ jsonrpc: "2.0", ...message })}\n`);
  const request = (method: string, params: object) => {
    const { id, ending } = calls.add();
    send({ id, method, params });
    return ending;
  };
  const clientInfo = { name: "tests", version: "1.0.0" };
  await request("initialize", { protocolVersion: "2025-11-25", capabilities: {}, clientInfo });
  send({ method: "notifications/initialized" });
  return clientOn(stdout!, (path) => request("resources/read", { uri: `coder:///${path}` }));
}
