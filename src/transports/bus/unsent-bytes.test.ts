import { afterEach, expect, mock, test } from "bun:test";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { setImmediate } from "node:timers/promises";
import { type WebSocket, WebSocketServer } from "ws";
import { createLog } from "../../base/log/log.ts";
import { type Bus, connect, cutConnection, unsentBytes } from "./bus.ts";

const { debug, error, info, log: print, warn } = console;
const cleanups: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleanups.splice(0)) await clean();
  // Connecting makes the console a part of the log.
  Object.assign(console, { debug, error, info, log: print, warn });
  mock.restore();
});

/** Opens an engine that sends nothing, and the SDK's connection to it. */
async function openConnection(): Promise<{
  bus: Bus;
  engine: WebSocket;
  nextEngine: () => Promise<WebSocket>;
}> {
  const server = new WebSocketServer({ port: 0, host: "127.0.0.1", maxPayload: 64 * 1024 * 1024 });
  await once(server, "listening");
  const { port } = server.address() as AddressInfo;
  const nextEngine = async () => (await once(server, "connection"))[0] as WebSocket;
  const connected = nextEngine();
  const log = createLog({ level: "error", form: "json", write: () => {} });
  const bus = connect(`ws://127.0.0.1:${port}`, { name: "test", description: "" }, log);
  cleanups.push(
    () => bus.shutdown(),
    () => server.close(),
  );
  expect(unsentBytes(bus)).toBeUndefined();
  const engine = await connected;
  while (unsentBytes(bus) === undefined) await setImmediate();
  return { bus, engine, nextEngine };
}

/** Sends a call without an answer. */
const post = (bus: Bus, payload: unknown) =>
  bus.trigger({ function_id: "x::y", payload, action: { type: "void" } });

test("what the engine has not read is known, though the SDK keeps its socket to itself", async () => {
  const { bus, engine } = await openConnection();
  engine.pause();
  for (let sent = 0; sent < 4; sent++) void post(bus, "x".repeat(8 * 1024 * 1024));
  expect(unsentBytes(bus)).toBeGreaterThan(8 * 1024 * 1024);
  engine.resume();
  while (unsentBytes(bus) !== 0) await setImmediate();
});

test("a connection that is cut is made again", async () => {
  const { bus, nextEngine } = await openConnection();
  const again = nextEngine();
  cutConnection(bus);
  await again;
  while (unsentBytes(bus) === undefined) await setImmediate();
});
