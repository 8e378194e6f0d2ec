import { afterEach, expect, test } from "bun:test";
import { once } from "node:events";
import { request as open } from "node:http";
import { connect, type Socket } from "node:net";
import { readFile } from "../coder/read-file.ts";
import { createLog, type LogFields } from "../log/log.ts";
import type { CallOutcome } from "../worker/invoke.ts";
import { type HttpLimits, serveOnHttp } from "./http.ts";
import { ToolHost } from "./tool-host.ts";

const token = "a-token-of-the-tests";

const opened: (() => Promise<void> | void)[] = [];

afterEach(async () => {
  for (const close of opened.splice(0).reverse()) await close();
});

interface Options {
  readonly limits?: Partial<HttpLimits>;
  readonly token?: string | undefined;
  readonly needsToken?: boolean;
}

/** A server in this process, whose calls end when `finish` is called. */
async function serve({ limits = {}, needsToken = true, ...given }: Options = {}) {
  const calls: ((outcome: CallOutcome) => void)[] = [];
  const lines: (LogFields & { readonly message: string })[] = [];
  const host = new ToolHost({
    worker: "coder",
    functions: [readFile],
    invoke: () => new Promise((resolve) => calls.push(resolve)),
    log: createLog({ level: "debug", form: "json", write: (line) => lines.push(JSON.parse(line)) }),
    callMilliseconds: 1000,
    maxReadBytes: undefined,
    isStructured: false,
    takesFlatEnvelopes: false,
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
  return { url, lines, announced, finish, calls };
}

/** A connection that has sent `text`. */
async function half(url: URL, text = "POST /mcp HTTP/1.1\r\nHost: localhost\r\n"): Promise<Socket> {
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

const headersOf = (more: Record<string, string> = {}) => ({
  "content-type": "application/json",
  accept: "application/json, text/event-stream",
  authorization: `Bearer ${token}`,
  ...more,
});

/** Posts, and gives the status, the headers and the body. */
async function post(url: URL, { body, headers }: Sending) {
  const sending = open(url, { method: "POST", headers: headersOf(headers), agent: false }).end(body);
  const [response] = await once(sending, "response");
  let text = "";
  for await (const piece of response) text += piece;
  return { status: response.statusCode as number, headers: response.headers, text };
}

const rpc = (id: number, method: string, params: object = {}) =>
  JSON.stringify({ jsonrpc: "2.0", id, method, params });
const initialize = rpc(0, "initialize", {
  protocolVersion: "2025-06-18",
  capabilities: {},
  clientInfo: { name: "raw", version: "1" },
});
const call = rpc(1, "tools/call", { name: "coder_read_file", arguments: { path: "a" } });

async function beginSession(url: URL): Promise<Record<string, string>> {
  const { headers } = await post(url, { body: initialize });
  return { "mcp-session-id": String(headers["mcp-session-id"]) };
}

test("closes a connection whose headers do not come in time", async () => {
  const { url } = await serve({ limits: { headersMilliseconds: 50, checkMilliseconds: 10 } });
  await once(await half(url), "close");
});

test("unauthenticated clients with half a request block no client that has the token", async () => {
  const { url } = await serve({ limits: { connections: { total: 256, unauthenticatedOfPeer: 2 } } });
  const first = await half(url);
  const closed = once(first, "close");
  await half(url);
  await half(url);
  await closed;
  expect((await post(url, { body: initialize })).status).toBe(200);
});

test("asks for the token before it takes any of a body", async () => {
  const { url } = await serve({ limits: { bodyBytes: 0 } });
  const socket = await half(
    url,
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toStartWith("HTTP/1.1 401 ");
});

test("takes bodies up to a sum, and small ones always", async () => {
  const mebibyte = 1024 * 1024;
  const { url, calls, finish } = await serve({ limits: { bodyBytes: 2 * mebibyte } });
  const session = await beginSession(url);
  const large = rpc(7, "tools/call", {
    name: "coder_read_file",
    arguments: { path: "x".repeat(1.5 * mebibyte) },
  });
  const first = post(url, { body: large, headers: session });
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // It is held while its call is under way.
  const second = await post(url, { body: large.replace('"id":7', '"id":8'), headers: session });
  expect([second.status, second.headers["retry-after"]]).toEqual([503, "5"]);
  expect((await post(url, { body: rpc(9, "ping"), headers: session })).status).toBe(200);
  finish();
  expect((await first).status).toBe(200);
  const third = post(url, { body: large.replace('"id":7', '"id":10'), headers: session });
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  finish();
  expect((await third).status).toBe(200);
});

test("a body is held until its call ends, also when its client has gone and its id is used again", async () => {
  const mebibyte = 1024 * 1024;
  const { url, calls, finish } = await serve({ limits: { bodyBytes: 2 * mebibyte } });
  const session = await beginSession(url);
  const large = call.replace('"a"', JSON.stringify("x".repeat(1.5 * mebibyte)));
  const first = open(url, { method: "POST", headers: headersOf(session) }).end(large);
  while (calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
  await new Promise((resolve) =>
    first
      .on("error", () => {})
      .on("close", resolve)
      .destroy(),
  );
  const again = post(url, { body: call, headers: session });
  while (calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect((await post(url, { body: large.replace('"id":1', '"id":2'), headers: session })).status).toBe(503);
  finish();
  expect((await again).status).toBe(200);
});

test("a body that never ends counts, too", async () => {
  const { url } = await serve({ limits: { bodyBytes: 100_000 } });
  const endless = open(url, { method: "POST", headers: headersOf({ "content-length": "200000" }) });
  opened.push(() => void endless.destroy());
  endless.on("error", () => {}).write("x".repeat(90_000));
  // Refused when the other has come in, and until then for what it is.
  const body = JSON.stringify("x".repeat(90_000));
  while ((await post(url, { body })).status !== 503) await new Promise((resolve) => setImmediate(resolve));
});

test("never ends a session with a call under way, and says when all have one", async () => {
  const { url, calls, finish } = await serve();
  const busy = await beginSession(url);
  const answer = post(url, { body: call, headers: busy });
  while (calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const idle = await beginSession(url);
  const others = [];
  for (let count = 0; count < 63; count++) others.push(await beginSession(url));
  expect((await post(url, { body: rpc(2, "ping"), headers: idle })).status).toBe(404);
  const answers = others.map((headers) => post(url, { body: call, headers }));
  while (calls.length < 64) await new Promise((resolve) => setImmediate(resolve));
  const refused = await post(url, { body: initialize });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  finish();
  for (const { status, text } of [await answer, ...(await Promise.all(answers))])
    expect([status, text.includes("done")]).toEqual([200, true]);
  expect((await post(url, { body: initialize })).status).toBe(200);
});

test("a call that was cancelled keeps no session", async () => {
  const { url, calls } = await serve();
  const first = await beginSession(url);
  const answer = post(url, { body: call, headers: first });
  while (calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const cancel = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 1 },
  });
  expect((await post(url, { body: cancel, headers: first })).status).toBe(202);
  for (let count = 0; count < 64; count++) await beginSession(url);
  expect((await post(url, { body: rpc(2, "ping"), headers: first })).status).toBe(404);
  await answer;
});

test("makes a token where none is given, and shows it nowhere but in the configuration of clients", async () => {
  const { url, announced, lines } = await serve({ token: undefined });
  expect(announced).toHaveLength(1);
  const { coder } = JSON.parse(announced[0] as string).mcpServers;
  expect(coder).toEqual({ type: "http", url: url.href, headers: { Authorization: expect.any(String) } });
  const authorization: string = coder.headers.Authorization;
  expect(authorization).toMatch(/^Bearer [\w-]{43}$/);
  expect(JSON.stringify(lines)).not.toContain(authorization.slice(7));
  expect((await post(url, { body: initialize, headers: { authorization } })).status).toBe(200);
  expect((await post(url, { body: initialize })).status).toBe(401);
});

test("makes another token each time", async () => {
  const tokens = [await serve({ token: undefined }), await serve({ token: undefined })];
  expect(tokens[0]?.announced[0]?.slice(-60)).not.toBe(tokens[1]?.announced[0]?.slice(-60));
});

test("shows no token that was given, and asks for none where none is wanted", async () => {
  expect((await serve()).announced).toEqual([]);
  const { announced, lines, url } = await serve({ token: undefined, needsToken: false });
  expect(announced).toEqual([]);
  expect(lines.map(({ message }) => message)).toContain(
    "no token is asked for: every user of this machine can use this server",
  );
  expect((await post(url, { body: initialize, headers: { authorization: "" } })).status).toBe(200);
});
