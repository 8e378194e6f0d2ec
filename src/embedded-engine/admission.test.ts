import { afterEach, describe, expect, mock, spyOn, test } from "bun:test";
import { once } from "node:events";
import { createConnection, type Socket } from "node:net";
import { registerWorker } from "iii-sdk";
import { ChannelReader } from "iii-sdk/channel";
import { createChannel } from "iii-sdk/helpers";
import { WebSocket } from "ws";
import { type Engine, type EngineOptions, startEngine } from "./engine.ts";

let engine: Engine;
const sockets: (WebSocket | Socket)[] = [];

async function start(options: EngineOptions = {}): Promise<void> {
  engine = await startEngine(options);
}

afterEach(async () => {
  for (const socket of sockets.splice(0)) socket instanceof WebSocket ? socket.terminate() : socket.destroy();
  await engine.stop();
  mock.restore();
});

/** Returns the engine's address without the token. */
const bare = (): string => new URL(engine.url).origin.replace(/^null$/, `ws://${new URL(engine.url).host}`);

/** Tries to connect. Resolves to "open", or to the refusal. */
function attempt(url: string, headers: Record<string, string> = {}): Promise<string> {
  const socket = new WebSocket(url, { headers });
  sockets.push(socket);
  return new Promise((resolve) => {
    socket.on("open", () => resolve("open"));
    socket.on("error", (error) => resolve(error.message));
  });
}

const token = "a token of the operator's choice";
const [own, another] = [process.geteuid?.() ?? 0, 65534];

describe("a program of", () => {
  test("the user who runs the engine may connect, and so may root", async () => {
    await start({ ownerOf: () => own });
    expect(engine.url).toBe(bare());
    expect(await attempt(bare())).toBe("open");
    await engine.stop();
    await start({ token, ownerOf: () => 0 });
    expect(await attempt(bare())).toBe("open");
  });

  test.each([another, undefined])("user %p may not, without the token", async (user) => {
    await start({ token, ownerOf: () => user });
    for (const path of [
      "",
      "/",
      "/otel",
      "/ws/channels/x?key=y&dir=read",
      "/wrong",
      "//",
      `/${token}`.slice(0, -1),
    ])
      expect(await attempt(bare() + path)).toContain("403");
    expect(await attempt(`${bare()}/${encodeURIComponent(token)}`)).toBe("open");
    expect(await attempt(`${bare()}/${encodeURIComponent(token)}/elsewhere`)).toContain("404");
  });

  test("any user needs a token where the system does not tell whose a connection is", async () => {
    await start({ ownerOf: () => undefined });
    expect(engine.url).toMatch(/^ws:\/\/127\.0\.0\.1:\d+\/[0-9a-f]{32}$/);
    expect(await attempt(bare())).toContain("403");
    expect(await attempt(engine.url)).toBe("open");
  });

  test("another user does everything with the address that has the token", async () => {
    spyOn(console, "debug").mockImplementation(() => {});
    await start({ token, ownerOf: () => another });
    const quiet = { otel: { enabled: false }, enableMetricsReporting: false };
    const server = registerWorker(engine.url, { ...quiet, reconnectionConfig: { initialDelayMs: 10 } });
    server.registerFunction("t::stream", async () => {
      const { readerRef, writer } = await createChannel(server);
      writer.stream.end("through a channel");
      return readerRef;
    });
    await engine.waitForFunction("t::stream");
    engine.dropConnections();
    await engine.waitForFunction("t::stream");
    const client = registerWorker(engine.url, quiet);
    const reader = await client.trigger({ function_id: "t::stream", payload: {} });
    const received = await new ChannelReader(engine.url, reader as never).readAll();
    expect(String(received)).toBe("through a channel");
    await Promise.all([server.shutdown(), client.shutdown()]);
  });
});

describe("a web page", () => {
  test.each(["http://localhost:3000", "https://127.0.0.1", "http://127.9.9.9", "http://[::1]:8080"])(
    "of this machine, %s, may connect with the token only",
    async (origin) => {
      await start({ token, ownerOf: () => own });
      expect(await attempt(bare(), { origin })).toContain("403");
      expect(await attempt(engine.url, { origin })).toBe("open");
    },
  );

  test.each([
    "https://example.com",
    "http://localhost.example.com",
    "http://127.0.0.1.example.com",
    "null",
    "file://",
    "x",
  ])("from another host, %s, may not", async (origin) => {
    await start({ token, ownerOf: () => own });
    for (const url of [bare(), engine.url, `${engine.url}/ws/channels/x?key=y&dir=read`])
      expect(await attempt(url, { origin })).toContain("403");
  });
});

test("workers enter at the root, telemetry at /otel, nothing elsewhere", async () => {
  await start();
  expect(await attempt(engine.url)).toBe("open");
  expect(await attempt(`${engine.url}/?query=1`)).toBe("open");
  expect(await attempt(`${engine.url}/otel`)).toBe("open");
  expect(await attempt(`${engine.url}/elsewhere`)).toContain("404");
  expect(await attempt(`${engine.url}//`)).toContain("404");
  expect(await attempt(`${engine.url}/ws/channels/`)).toContain("404");
});

test("a plain request is told to upgrade", async () => {
  await start();
  const response = await fetch(engine.url.replace("ws:", "http:"));
  expect(response.status).toBe(426);
});

test("a port that is taken is said to be", async () => {
  await start();
  const port = Number(new URL(engine.url).port);
  expect(await startEngine({ port }).catch((error: unknown) => error)).toMatchObject({ code: "EADDRINUSE" });
});

describe("connections", () => {
  test("have a limit, and one that ends makes room", async () => {
    await start({ maxConnections: 2 });
    expect(await attempt(engine.url)).toBe("open");
    expect(await attempt(engine.url)).toBe("open");
    expect(await attempt(engine.url)).toContain("503");
    const [first] = sockets as WebSocket[];
    first?.close();
    await once(first!, "close");
    expect(await attempt(engine.url)).toBe("open");
  });

  test("that send half a request give way to others, the oldest first", async () => {
    await start();
    const { port } = new URL(engine.url);
    const half = Array.from({ length: 33 }, () => {
      const socket = createConnection({ host: "127.0.0.1", port: Number(port) });
      socket.on("error", () => undefined).write("GET / HT");
      sockets.push(socket);
      return socket;
    });
    await Promise.race(half.map((socket) => once(socket, "close")));
    expect(half.filter((socket) => !socket.closed)).toHaveLength(32);
    expect(await attempt(engine.url)).toBe("open");
  });
});
