import { afterAll, beforeAll, describe, expect, mock, spyOn, test } from "bun:test";
import { createHash, randomBytes } from "node:crypto";
import { once } from "node:events";
import { Readable } from "node:stream";
import { pipeline } from "node:stream/promises";
import { type IIIClient, registerWorker } from "iii-sdk";
import { ChannelReader } from "iii-sdk/channel";
import { createChannel } from "iii-sdk/helpers";
import { WebSocket } from "ws";
import { type Engine, startEngine } from "./engine.ts";

let engine: Engine;
let server: IIIClient;
let client: IIIClient;

beforeAll(async () => {
  spyOn(console, "debug").mockImplementation(() => {});
  engine = await startEngine();
  const quiet = { otel: { enabled: false }, enableMetricsReporting: false };
  server = registerWorker(engine.url, quiet);
  client = registerWorker(engine.url, quiet);
  await client.trigger({ function_id: "engine::workers::list", payload: {} });
});

afterAll(async () => {
  await Promise.all([server.shutdown(), client.shutdown()]);
  await engine.stop();
  mock.restore();
});

const big = randomBytes(32 * 1024 * 1024);

function sha256(data: Buffer): string {
  return createHash("sha256").update(data).digest("hex");
}

function urlOf(ref: { channel_id: string; access_key: string; direction: string }): string {
  return `${engine.url}/ws/channels/${ref.channel_id}?key=${ref.access_key}&dir=${ref.direction}`;
}

/** Connects, and resolves to everything received until the other side closed. */
async function readAll(url: string): Promise<string[]> {
  const socket = new WebSocket(url);
  const received: string[] = [];
  socket.on("message", (data) => received.push(String(data)));
  await once(socket, "close");
  return received;
}

describe("a channel carries 32 MiB unchanged", () => {
  test("from the worker that serves a call to its caller", async () => {
    server.registerFunction("t::read", async () => {
      const channel = await createChannel(server);
      void pipeline(Readable.from([big]), channel.writer.stream);
      return { content: channel.readerRef };
    });
    await engine.waitForFunction("t::read");
    const { content } = await client.trigger({ function_id: "t::read", payload: {} });
    expect(sha256(await new ChannelReader(engine.url, content).readAll())).toBe(sha256(big));
  });

  test("from the caller to the worker that serves its call", async () => {
    server.registerFunction("t::write", async ({ content }: { content: ChannelReader }) => {
      const received = await content.readAll();
      return { bytes: received.length, sha256: sha256(received) };
    });
    await engine.waitForFunction("t::write");
    const channel = await createChannel(client);
    const answer = client.trigger({ function_id: "t::write", payload: { content: channel.readerRef } });
    await pipeline(Readable.from([big]), channel.writer.stream);
    expect(await answer).toEqual({ bytes: big.length, sha256: sha256(big) });
  });
});

describe("a channel", () => {
  test("keeps text and binary messages apart and in order", async () => {
    const channel = await createChannel(client);
    const writer = new WebSocket(urlOf(channel.writerRef));
    await once(writer, "open");
    writer.send("text é");
    writer.send(Buffer.from([0xff, 0]));
    writer.send("");
    writer.close(1000);
    const reader = new WebSocket(urlOf(channel.readerRef));
    const messages: unknown[] = [];
    reader.on("message", (data, binary) => messages.push(binary ? data : String(data)));
    const [code] = await once(reader, "close");
    expect(messages).toEqual(["text é", Buffer.from([0xff, 0]), ""]);
    expect(code).toBe(1000);
  });

  test("holds its writer back while nobody reads", async () => {
    const channel = await createChannel(client, 4);
    const writer = new WebSocket(urlOf(channel.writerRef));
    await once(writer, "open");
    const part = Buffer.alloc(1024 * 1024);
    let sent = 0;
    for (let i = 0; i < 64; i += 1) writer.send(part, () => (sent += 1));
    await client.trigger({ function_id: "engine::workers::list", payload: {} });
    expect(sent).toBeLessThan(32);
    writer.close(1000);
    expect(await readAll(urlOf(channel.readerRef))).toHaveLength(64);
  });

  test("takes one writer and one reader; a second one ends empty", async () => {
    const channel = await createChannel(client);
    channel.writer.sendMessage("for the first");
    const first = new WebSocket(urlOf(channel.readerRef));
    const [message] = await once(first, "message");
    expect(String(message)).toBe("for the first");
    expect(await readAll(urlOf(channel.readerRef))).toEqual([]);
    expect(await readAll(urlOf(channel.writerRef))).toEqual([]);
    channel.writer.close();
    await once(first, "close");
  });

  test("ends for the writer when its reader leaves", async () => {
    const channel = await createChannel(client);
    const failed = pipeline(Readable.from([big]), channel.writer.stream).catch(({ code }) => code);
    const reader = new WebSocket(urlOf(channel.readerRef));
    await once(reader, "message");
    reader.terminate();
    expect(await failed).toStartWith("ERR_STREAM_");
  });

  test("is not found under another id, key or direction, nor once it is over", async () => {
    const { readerRef, writer } = await createChannel(client);
    const wrong = [
      { ...readerRef, channel_id: crypto.randomUUID() },
      { ...readerRef, access_key: crypto.randomUUID() },
      { ...readerRef, direction: "both" },
    ];
    for (const ref of wrong) {
      const [error] = await once(new WebSocket(urlOf(ref)), "error");
      expect(error.message).toContain("404");
    }
    writer.sendMessage("only");
    writer.close();
    expect(await readAll(urlOf(readerRef))).toEqual(["only"]);
    const [error] = await once(new WebSocket(urlOf(readerRef)), "error").catch((thrown) => [thrown]);
    expect(error.message).toContain("404");
  });
});
