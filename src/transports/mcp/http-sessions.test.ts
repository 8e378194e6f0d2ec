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

test("a call that was cancelled keeps no session", async () => {
  const { url, calls } = await serveHttp();
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
