/** MCP over HTTP in this process, for tests. */
import { afterEach } from "bun:test";
import { once } from "node:events";
import { request as open } from "node:http";
import { connect, type Socket } from "node:net";
import { createLog, type LogFields } from "../../base/log/log.ts";
import type { TreeChanges } from "../../calls/contract/tree-changes.ts";
import type { CallOutcome } from "../../calls/invoke.ts";
import { readFile } from "../../coder/read-file.ts";
import { type HttpLimits, serveOnHttp } from "./http.ts";
import { ToolHost } from "./tool-host.ts";

export const token = "a-token-of-the-tests";

export const opened: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

/** A tree without changes. Counts the sessions that follow it. */
class CountedReaders implements TreeChanges {
  count = 0;

  open(): () => void {
    this.count++;
    return () => {
      this.count--;
    };
  }

  begin(): string {
    return "0:0";
  }

  async watch(): Promise<number> {
    return 0;
  }
}

interface Options {
  readonly limits?: Partial<HttpLimits>;
  readonly token?: string | undefined;
  readonly needsToken?: boolean;
}

/** Starts a server in this process, whose calls end when `finish` is called. */
export async function serveHttp({ limits = {}, needsToken = true, ...given }: Options = {}) {
  const calls: ((outcome: CallOutcome) => void)[] = [];
  const treeChanges = new CountedReaders();
  /** The session of each call. */
  const sessions: (string | undefined)[] = [];
  const lines: (LogFields & { readonly message: string })[] = [];
  const host = new ToolHost({
    worker: "coder",
    functions: [readFile],
    invoke: (_, __, { session } = {}) => {
      sessions.push(session);
      return new Promise((resolve) => calls.push(resolve));
    },
    log: createLog({ level: "debug", form: "json", write: (line) => lines.push(JSON.parse(line)) }),
    millisecondsOf: () => 1000,
    maxReadBytes: undefined,
    treeChanges,
    isStructured: false,
    takesFlatEnvelopes: false,
    isForgiving: false,
    listsRareFields: false,
  });
  const announced: string[] = [];
  const address = { host: "127.0.0.1", port: 0, token: "token" in given ? given.token : token, needsToken };
  const listener = await serveOnHttp(host, address, { limits, announce: (text) => announced.push(text) });
  const url = new URL(String(lines.find(({ message }) => message === "listening")?.["url"]));
  const finish = () => {
    for (const end of calls.splice(0)) end({ answer: { content: "done" }, bytes: 20 } as CallOutcome);
  };
  opened.push(async () => {
    finish();
    await listener.stop();
  });
  return { url, lines, announced, finish, calls, sessions, treeChanges };
}

/** Opens a connection and sends `text` over it. */
export async function half(url: URL, text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"): Promise<Socket> {
  const socket = connect(Number(url.port), url.hostname);
  socket.on("error", () => {});
  opened.push(() => void socket.destroy());
  await once(socket, "connect");
  socket.resume().write(text);
  return socket;
}

interface Sending {
  readonly body: string;
  readonly headers?: Record<string, string>;
}

export const headersOf = (more: Record<string, string> = {}) => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${token}`,
  ...more,
});

/** Sends a POST request. Returns the status, the headers and the body. */
export async function post(url: URL, { body, headers }: Sending) {
  const sending = open(url, { method: "POST", headers: headersOf(headers), agent: false }).end(body);
  const [response] = await once(sending, "response");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode as number, headers: response.headers, text };
}

export const rpc = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
export const initialize = rpc(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});
export const modernMeta = {
  "io.modelcontextprotocol/protocolVersion": "2026-07-28",
  "io.modelcontextprotocol/clientInfo": { name: "raw", version: "1" },
  "io.modelcontextprotocol/clientCapabilities": {},
};
export const call = rpc(1, "tools/call", { name: "coder_read_file", arguments: { path: "a" } });

export async function beginSession(url: URL): Promise<Record<string, string>> {
  const { headers } = await post(url, { body: initialize });
  return { "mcp-session-id": String(headers["mcp-session-id"]) };
}
