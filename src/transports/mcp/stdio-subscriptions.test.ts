import { expect, test } from "bun:test";
import { PassThrough } from "node:stream";
import { setImmediate } from "node:timers/promises";
import type { JSONRPCMessage } from "@modelcontextprotocol/server";
import { ResourceWatch } from "./resource-watch.ts";
import { LineTransport } from "./sdk-gaps/line-transport.ts";
import { StdioListens } from "./stdio-subscriptions.ts";
import type { ToolHost } from "./tool-host.ts";

const listen = (id: number) => ({
  ...{ jsonrpc: "2.0", id, method: "subscriptions/listen" },
  params: { notifications: { resourceSubscriptions: ["coder:///a"] } },
});
const ping = (id: number) => ({ jsonrpc: "2.0", id, method: "ping" });
const cancel = (requestId: number) => ({
  jsonrpc: "2.0",
  method: "notifications/cancelled",
  params: { requestId },
});

test("while a tree is being listed for a request, others are passed on, and its cancellation is behind it", async () => {
  const listed = Promise.withResolvers<number>();
  const readers = new Set<object>();
  const changes = {
    begin: () => "0:0",
    open: (report: object) => {
      readers.add(report);
      return () => void readers.delete(report);
    },
    watch: () => listed.promise,
  };
  const host: Pick<ToolHost, "watchResources"> = {
    watchResources: (sink) => new ResourceWatch(changes, sink),
  };
  const input = new PassThrough();
  const listens = new StdioListens(host, new LineTransport(input, new PassThrough()));
  const passed: JSONRPCMessage[] = [];
  listens.onmessage = (message) => passed.push(message as JSONRPCMessage);
  await listens.start();
  const send = async (...messages: object[]) => {
    for (const message of messages) input.write(`${JSON.stringify(message)}\n`);
    await setImmediate();
  };
  await send(listen(1), ping(2), listen(3), cancel(2), cancel(3));
  expect(passed).toEqual([ping(2), cancel(2)] as JSONRPCMessage[]);
  listed.resolve(0);
  while (passed.length < 5) await setImmediate();
  expect(passed.slice(2)).toEqual([listen(1), listen(3), cancel(3)] as JSONRPCMessage[]);
  expect(readers.size).toBe(1);
  await send(cancel(1));
  expect([passed.at(-1), readers.size]).toEqual([cancel(1) as JSONRPCMessage, 0]);
});
