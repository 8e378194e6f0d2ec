import { expect, test } from "bun:test";
import { once } from "node:events";
import { Agent, request as open } from "node:http";
import {
  beginSession,
  call,
  half,
  headersOf,
  initialize,
  opened,
  post,
  rpc,
  serveHttp,
} from "./http.test-kit.ts";

test("closes a connection whose headers do not come in time", async () => {
  const { url } = await serveHttp({ limits: { headersMilliseconds: 50, checkMilliseconds: 10 } });
  await once(await half(url), "close");
});

test("unauthenticated clients with half a request block no client that has the token", async () => {
  const { url } = await serveHttp({
    limits: { connections: { total: 256, unauthenticatedOfPeer: 2, unanswered: 100 } },
  });
  const first = await half(url);
  const closed = once(first, "close");
  await half(url);
  await half(url);
  await closed;
  expect((await post(url, { body: initialize })).status).toBe(200);
});

test("the log says when all connections are in use", async () => {
  const limits = { connections: { total: 2, unauthenticatedOfPeer: 2, unanswered: 100 } };
  const { url, lines } = await serveHttp({ limits });
  // Only two connections stay open, each with a stream of notifications.
  const agent = new Agent({ keepAlive: true, maxSockets: 2 });
  opened.push(() => agent.destroy());
  for (let count = 0; count < 2; count++) {
    const beginning = open(url, { method: "POST", agent, headers: headersOf() }).end(initialize);
    const [begun] = await once(beginning, "response");
    await once(begun.resume(), "end");
    const session = { "mcp-session-id": begun.headers["mcp-session-id"] };
    await once(open(url, { agent, headers: headersOf(session) }).end(), "response");
  }
  // It is reset, which is an error first.
  const refused = await half(url);
  await new Promise((resolve) => refused.on("close", resolve));
  expect(lines.filter(({ message }) => message === "connection closed")).toMatchObject([
    {
      level: "warn",
      peer: "127.0.0.1",
      reason: "All 2 connections are in use, 2 of them by authorized clients.",
    },
  ]);
});

test("a connection takes any number of requests, and is closed if a hundred of them are unanswered", async () => {
  const { url, lines } = await serveHttp();
  const agent = new Agent({ keepAlive: true, maxSockets: 1 });
  opened.push(() => agent.destroy());
  for (let count = 0; count < 150; count++) {
    const [answer] = await once(
      open(url, { method: "POST", agent, headers: headersOf() }).end("{}"),
      "response",
    );
    await once(answer.resume(), "end");
  }
  expect(lines.filter(({ message }) => message === "connection closed")).toEqual([]);
  const headers = Object.entries(headersOf()).map(([name, value]) => `${name}: ${value}\r\n`);
  const body = '{"jsonrpc":"2.0","id":1,"method":"ping"}';
  const one = `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${headers.join("")}Content-Length: ${body.length}\r\n\r\n${body}`;
  const flooding = await half(url, one.repeat(500));
  await new Promise((resolve) => flooding.on("close", resolve));
  expect(lines.filter(({ message }) => message === "connection closed")).toMatchObject([
    { level: "warn", peer: "127.0.0.1", reason: "A connection may have 100 unanswered requests." },
  ]);
  expect((await post(url, { body: initialize })).status).toBe(200);
});

test("the log says when a client leaves in the middle of its request", async () => {
  const { url, lines } = await serveHttp();
  const headers = Object.entries(headersOf()).map(([name, value]) => `${name}: ${value}\r\n`);
  const leaving = await half(
    url,
    `POST /mcp HTTP/1.1\r\nHost: localhost\r\n${headers.join("")}Content-Length: 9\r\nExpect: 100-continue\r\n\r\n{`,
  );
  const [answer] = await once(leaving, "data");
  expect(String(answer)).toStartWith("HTTP/1.1 100 ");
  leaving.destroy();
  const found = () => lines.filter(({ message }) => ["client left", "bad exchange"].includes(message));
  while (found().length === 0) await new Promise((resolve) => setImmediate(resolve));
  const reason = "The connection closed before the whole request had arrived.";
  expect(found()).toMatchObject([{ level: "info", message: "client left", peer: "127.0.0.1", reason }]);
});

test("asks for the token before it takes any of a body", async () => {
  const { url } = await serveHttp({ limits: { bodyBytes: 0 } });
  const socket = await half(
    url,
    "POST /mcp HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\nContent-Length: 1000000\r\n\r\n",
  );
  const [answer] = await once(socket, "data");
  expect(String(answer)).toStartWith("HTTP/1.1 401 ");
});

test("takes bodies up to a sum, and small ones always", async () => {
  const mebibyte = 1024 * 1024;
  const { url, calls, finish } = await serveHttp({ limits: { bodyBytes: 2 * mebibyte } });
  const session = await beginSession(url);
  const large = rpc(7, "tools/call", {
    name: "coder_read_file",
    arguments: { path: "x".repeat(1.5 * mebibyte) },
  });
  const first = post(url, { body: large, headers: session });
  while (calls.length === 0) await new Promise((resolve) => setImmediate(resolve));
  // The body stays in memory while its call is running.
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

test("a body is held until its call ends, also when its client has gone", async () => {
  const mebibyte = 1024 * 1024;
  const { url, calls, finish } = await serveHttp({ limits: { bodyBytes: 2 * mebibyte } });
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
  expect((await post(url, { body: call, headers: session })).text).toContain("-32600");
  const again = post(url, { body: call.replace('"id":1', '"id":3'), headers: session });
  while (calls.length < 2) await new Promise((resolve) => setImmediate(resolve));
  expect((await post(url, { body: large.replace('"id":1', '"id":2'), headers: session })).status).toBe(503);
  finish();
  expect((await again).status).toBe(200);
});

test("a body that never ends counts, too", async () => {
  const { url } = await serveHttp({ limits: { bodyBytes: 100_000 } });
  const endless = open(url, { method: "POST", headers: headersOf({ "content-length": "200000" }) });
  opened.push(() => void endless.destroy());
  endless.on("error", () => {}).write("x".repeat(90_000));
  // Before the other body has arrived, this one is refused for its content.
  const body = JSON.stringify("x".repeat(90_000));
  while ((await post(url, { body })).status !== 503) await new Promise((resolve) => setImmediate(resolve));
});

test("makes a token where none is given, and shows it nowhere but in the configuration of clients", async () => {
  const { url, announced, lines } = await serveHttp({ token: undefined });
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
  const tokens = [await serveHttp({ token: undefined }), await serveHttp({ token: undefined })];
  expect(tokens[0]?.announced[0]?.slice(-60)).not.toBe(tokens[1]?.announced[0]?.slice(-60));
});

test("shows no token that was given, and asks for none where none is wanted", async () => {
  expect((await serveHttp()).announced).toEqual([]);
  const { announced, lines, url } = await serveHttp({ token: undefined, needsToken: false });
  expect(announced).toEqual([]);
  expect(lines.map(({ message }) => message)).toContain(
    "no token is asked for: every user of this machine can use this server",
  );
  expect((await post(url, { body: initialize, headers: { authorization: "" } })).status).toBe(200);
});

test("/healthz needs no token, and no page may use it", async () => {
  const { url, lines } = await serveHttp();
  const health = new URL("/healthz", url);
  const answer = await fetch(health);
  expect([answer.status, await answer.text()]).toEqual([200, "ok\n"]);
  expect((await fetch(health, { headers: { Origin: "https://evil.example" } })).status).toBe(403);
  expect((await fetch(new URL("/healthz/x", url))).status).toBe(401);
  expect(lines.filter(({ message }) => message === "request refused")).toMatchObject([
    { level: "warn", status: 403, peer: "127.0.0.1", reason: expect.stringContaining("Origin") },
  ]);
});
