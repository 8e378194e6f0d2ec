import { expect, test } from "bun:test";
import { once } from "node:events";
import { request as open } from "node:http";
import {
  beginSession,
  call,
  headersOf,
  initialize,
  modernMeta,
  post,
  rpc,
  serveHttp,
} from "./http.test-kit.ts";

test("never ends a session with a call under way, and says when all have one", async () => {
  const { url, calls, finish } = await serveHttp();
  const busy = await beginSession(url);
  const answer = post(url, { body: call, headers: busy });
  while (calls.length < 1) await new Promise((resolve) => setImmediate(resolve));
  const idle = await beginSession(url);
  const others = [];
  for (let count = 0; count < 63; count++) others.push(await beginSession(url));
  const ended = await post(url, { body: rpc(2, "ping"), headers: idle });
  expect(ended.status).toBe(404);
  expect(JSON.parse(ended.text)).toMatchObject({ jsonrpc: "2.0", error: { code: -32_000 } });
  const answers = others.map((headers) => post(url, { body: call, headers }));
  while (calls.length < 64) await new Promise((resolve) => setImmediate(resolve));
  const refused = await post(url, { body: initialize });
  expect([refused.status, refused.headers["retry-after"]]).toEqual([503, "5"]);
  finish();
  for (const { status, text } of [await answer, ...(await Promise.all(answers))])
    expect([status, text.includes("done")]).toEqual([200, true]);
  expect((await post(url, { body: initialize })).status).toBe(200);
});

test("calls say which session they came over, or which connection", async () => {
  const { url, calls, finish, sessions } = await serveHttp();
  const [one, other] = [await beginSession(url), await beginSession(url)];
  const stateless = call.replace('"params":{', `"params":{"_meta":${JSON.stringify(modernMeta)},`);
  const named = {
    "mcp-method": "tools/call",
    "mcp-name": "coder_read_file",
    "mcp-protocol-version": "2026-07-28",
  };
  const answers = [
    post(url, { body: call, headers: one }),
    post(url, { body: call.replace('"id":1', '"id":2'), headers: one }),
    post(url, { body: call, headers: other }),
    post(url, { body: stateless, headers: named }),
  ];
  while (calls.length < 4) await new Promise((resolve) => setImmediate(resolve));
  finish();
  for (const { status } of await Promise.all(answers)) expect(status).toBe(200);
  const ids = [one, one, other].map((headers) => headers["mcp-session-id"]);
  const shown = sessions.map((id) => id?.replace(/^127\.0\.0\.1 \d+$/, "a connection"));
  expect(shown.toSorted()).toEqual([...ids, "a connection"].toSorted());
});

test("a session that has ended follows no changes, nor does a stream whose client has gone", async () => {
  const { url, treeChanges } = await serveHttp();
  const session = await beginSession(url);
  const subscribe = rpc(3, "resources/subscribe", { uri: "coder:///a" });
  expect((await post(url, { body: subscribe, headers: session })).status).toBe(200);
  expect(treeChanges.count).toBe(1);
  const ending = open(url, { method: "DELETE", headers: headersOf(session) }).end();
  await once(ending, "response");
  expect(treeChanges.count).toBe(0);
  const notifications = { resourceSubscriptions: ["coder:///a"] };
  const body = rpc(4, "subscriptions/listen", { _meta: modernMeta, notifications });
  const headers = { "mcp-method": "subscriptions/listen", "mcp-protocol-version": "2026-07-28" };
  const listening = open(url, { method: "POST", headers: headersOf(headers), agent: false }).end(body);
  const [response] = await once(listening, "response");
  const [acknowledged] = await once(response, "data");
  expect(String(acknowledged)).toContain("notifications/subscriptions/acknowledged");
  expect(treeChanges.count).toBe(1);
  listening.on("error", () => {}).destroy();
  while (treeChanges.count > 0) await new Promise((resolve) => setImmediate(resolve));
  const refused = rpc(5, "subscriptions/listen", { _meta: modernMeta, notifications: 7 });
  expect((await post(url, { body: refused, headers })).text).toContain("-32602");
  expect(treeChanges.count).toBe(0);
});

const cancellationOf = (requestId: unknown) =>
  JSON.stringify({ jsonrpc: "2.0", method: "notifications/cancelled", params: { requestId } });
const callOf = (id: number) => call.replace('"id":1', `"id":${id}`);
const batchOf = (...messages: readonly string[]) => `[${messages.join(",")}]`;
const turn = () => new Promise((resolve) => setImmediate(resolve));

test("a call that was cancelled keeps no session, no connection and no id", async () => {
  const { url, calls, finish } = await serveHttp();
  const first = await beginSession(url);
  const answer = post(url, { body: call, headers: first });
  while (calls.length < 1) await turn();
  expect((await post(url, { body: cancellationOf(1), headers: first })).status).toBe(202);
  expect(await answer).toMatchObject({ status: 200, text: "" });
  const next = post(url, { body: call, headers: first });
  while (calls.length < 2) await turn();
  finish();
  expect((await next).text).toContain("done");
  for (let count = 0; count < 64; count++) await beginSession(url);
  expect((await post(url, { body: rpc(2, "ping"), headers: first })).status).toBe(404);
});

test.each([[1], ["2"], [{}], [undefined]])("a cancellation of %p cancels no other call", async (id) => {
  const { url, calls, finish } = await serveHttp();
  const session = await beginSession(url);
  const answer = post(url, { body: callOf(2), headers: session });
  while (calls.length < 1) await turn();
  await post(url, { body: cancellationOf(id), headers: session });
  finish();
  expect((await answer).text).toContain("done");
});

test("the stream of a batch ends when its calls are answered or cancelled, in either order", async () => {
  const { url, calls, finish } = await serveHttp();
  const session = await beginSession(url);
  for (const isCancelledFirst of [true, false]) {
    const answer = post(url, { body: batchOf(callOf(1), callOf(2)), headers: session });
    while (calls.length < 2) await turn();
    const cancel = () => post(url, { body: cancellationOf(1), headers: session });
    const [first, second] = calls.splice(0);
    if (isCancelledFirst) await cancel();
    second!({ answer: { content: "done" }, bytes: 20 } as never);
    if (!isCancelledFirst) await cancel();
    const { text } = await answer;
    first!({ answer: { content: "late" }, bytes: 20 } as never);
    expect(text.match(/"id":\d/g)).toEqual(['"id":2']);
  }
  // Neither leaves anything that could end a later stream too early.
  const later = post(url, { body: batchOf(callOf(1), callOf(2)), headers: session });
  while (calls.length < 2) await turn();
  finish();
  expect((await later).text.match(/"id":\d/g)?.toSorted()).toEqual(['"id":1', '"id":2']);
});

test("a batch that cancels its own call ends too", async () => {
  const { url } = await serveHttp();
  const session = await beginSession(url);
  const { status, text } = await post(url, { body: batchOf(call, cancellationOf(1)), headers: session });
  expect([status, text]).toEqual([200, ""]);
});

test("a call whose client has gone ends when it is cancelled, and its id is free", async () => {
  const { url, calls, finish } = await serveHttp();
  const session = await beginSession(url);
  const leaving = open(url, { method: "POST", headers: headersOf(session), agent: false }).end(call);
  while (calls.length < 1) await turn();
  const left = new Promise((resolve) => leaving.on("error", () => {}).on("close", resolve));
  leaving.destroy();
  await left;
  await post(url, { body: cancellationOf(1), headers: session });
  const again = post(url, { body: call, headers: session });
  while (calls.length < 2) await turn();
  finish();
  expect((await again).text).toContain("done");
});

test("a second request with the id of one under way is refused, and the first gets its answer", async () => {
  const { url, calls, finish } = await serveHttp();
  const session = await beginSession(url);
  const first = post(url, { body: callOf(7), headers: session });
  while (calls.length < 1) await turn();
  const refusal = "The id 7 belongs to more than one request that is not answered yet, so ";
  for (const [body, id, consequence] of [
    [callOf(7), 7, "this one was not carried out"],
    [rpc(7, "ping"), 7, "this one was not carried out"],
    [batchOf(rpc(8, "ping"), rpc(7, "ping")), null, "nothing of this batch was carried out"],
  ] as const) {
    const refused = await post(url, { body, headers: session });
    const message = expect.stringContaining(refusal + consequence);
    expect(refused.status).toBe(400);
    expect(JSON.parse(refused.text)).toEqual({ jsonrpc: "2.0", id, error: { code: -32_600, message } });
  }
  expect(calls).toHaveLength(1);
  // Another session has ids of its own.
  const other = post(url, { body: callOf(7), headers: await beginSession(url) });
  while (calls.length < 2) await turn();
  finish();
  for (const answer of [await first, await other]) expect(answer.text).toContain("done");
  const reused = post(url, { body: callOf(7), headers: session });
  while (calls.length < 1) await turn();
  finish();
  expect((await reused).text).toContain("done");
});

test("a batch with two equal ids is refused as a whole", async () => {
  const { url, calls } = await serveHttp();
  const session = await beginSession(url);
  const refused = await post(url, { body: batchOf(callOf(7), callOf(7)), headers: session });
  expect(refused.status).toBe(400);
  expect(JSON.parse(refused.text)).toMatchObject({ id: null, error: { code: -32_600 } });
  expect(calls).toEqual([]);
});

test("what no call needs is refused before any of a body is read, and so is a batch with it", async () => {
  const { url, calls } = await serveHttp();
  const session = await beginSession(url);
  const deep = call.replace('"a"', "[".repeat(1000) + "]".repeat(1000));
  const digits = call.replace('"a"', "1".repeat(2000));
  const longId = call.replace('"id":1', `"id":"${"x".repeat(2000)}"`);
  for (const [body, id, sentence] of [
    [deep, 1, "more than 127 levels"],
    [digits, 1, "more than 1000 characters"],
    [longId, null, "at most 1024 characters"],
  ] as const)
    for (const sent of [body, batchOf(call, body)]) {
      const { status, text } = await post(url, { body: sent, headers: session });
      expect(status).toBe(400);
      const error = { code: -32600, message: expect.stringContaining(sentence) };
      expect(JSON.parse(text)).toEqual({ jsonrpc: "2.0", id: sent === body ? id : null, error });
    }
  expect(calls).toEqual([]);
});

test("a batch of more than 100 messages is refused before any of them is read", async () => {
  const { url } = await serveHttp();
  const session = await beginSession(url);
  const unread = Array.from({ length: 101 }, () => "1");
  const refused = await post(url, { body: batchOf(...unread), headers: session });
  expect(refused.status).toBe(400);
  const message = "A batch has at least one message and at most 100; send them one by one.";
  expect(JSON.parse(refused.text)).toEqual({ jsonrpc: "2.0", id: null, error: { code: -32_600, message } });
});
