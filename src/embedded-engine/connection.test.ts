import { beforeEach, describe, expect, test } from "bun:test";
import { EventEmitter } from "node:events";
import { setImmediate } from "node:timers/promises";
import type { WebSocket } from "portable-ws";
import { WorkerConnection } from "./connection.ts";
import { renderFrame, WrittenJson } from "./frames.ts";

/** Keeps what is sent to it. */
class SocketStub extends EventEmitter {
  readonly OPEN = 1;
  readyState = 1;
  bufferedAmount = 0;
  readonly sent: { data: string | Buffer; fin: boolean }[] = [];
  /** Whether what is sent is read at once. */
  isRead = true;
  readonly #unread: (() => void)[] = [];
  #wake = (): void => {};

  send(data: string | Buffer, { fin = true, binary = true } = {}, onRead = () => {}): void {
    if (typeof data !== "string") expect(binary).toBeFalse();
    this.sent.push({ data, fin });
    this.bufferedAmount += data.length;
    this.#unread.push(() => {
      this.bufferedAmount -= data.length;
      onRead();
    });
    if (this.isRead) this.read();
    if (fin) this.#wake();
  }

  /** Reads everything from now on. */
  read(): void {
    this.isRead = true;
    for (const read of this.#unread.splice(0)) read();
  }

  close(): void {
    this.readyState = 3;
    this.emit("close");
    this.#wake();
  }

  /** Resolves when `messages` messages have been sent whole, or the socket is closed. */
  async whole(messages: number): Promise<void> {
    while (this.messages.length < messages && this.readyState === this.OPEN)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }

  /** The messages that have been sent whole, as text. */
  get messages(): string[] {
    const messages: string[] = [];
    let fragments: Buffer[] = [];
    for (const { data, fin } of this.sent) {
      fragments.push(Buffer.from(data));
      if (!fin) continue;
      messages.push(Buffer.concat(fragments).toString());
      fragments = [];
    }
    return messages;
  }
}

const frameOf = (text: string) =>
  ({
    type: "invocationresult",
    invocation_id: "i",
    function_id: "f",
    result: new WrittenJson(JSON.stringify(text)),
  }) as const;

let stub: SocketStub;
let worker: WorkerConnection;

beforeEach(() => {
  stub = new SocketStub();
  worker = new WorkerConnection(stub as unknown as WebSocket, {});
});

describe("a large frame", () => {
  test.each(["é", "x🙂", "🙂"])("of %p arrives whole, in fragments of valid UTF-8", async (unit) => {
    const frame = frameOf(unit.repeat(600_000));
    worker.send(frame);
    expect(worker.unsentBytes).toBeGreaterThanOrEqual(600_000);
    await stub.whole(1);
    expect(stub.messages).toEqual([renderFrame(frame)]);
    expect(worker.unsentBytes).toBe(0);
    expect(stub.sent.length).toBeGreaterThan(2);
    for (const { data } of stub.sent)
      expect(new TextDecoder("utf-8", { fatal: true }).decode(data as Buffer)).not.toBe("");
  });

  test("lets no other frame come in between", async () => {
    const frames = [frameOf("é".repeat(2_000_000)), { type: "pong" } as const, frameOf("é".repeat(600_000))];
    for (const frame of frames) worker.send(frame);
    await stub.whole(3);
    expect(stub.messages).toEqual(frames.map(renderFrame));
    worker.send({ type: "pong" });
    await stub.whole(4);
    expect(stub.messages[3]).toBe('{"type":"pong"}');
  });

  test("is offered to a worker of this process first", async () => {
    const taken: string[] = [];
    worker = new WorkerConnection(stub as unknown as WebSocket, {
      takeLarge(workerId, text) {
        expect(workerId).toBe(worker.id);
        if (text.includes("🙂")) return false;
        taken.push(text);
        return true;
      },
    });
    const [own, other] = [frameOf("é".repeat(600_000)), frameOf("🙂".repeat(600_000))];
    for (const frame of [own, { type: "pong" } as const, other]) worker.send(frame);
    await stub.whole(2);
    expect(taken).toEqual([renderFrame(own)]);
    expect(stub.messages).toEqual(['{"type":"pong"}', renderFrame(other)]);
  });

  test("leaves before the socket is closed", async () => {
    worker.send(frameOf("é".repeat(2_000_000)));
    worker.close();
    expect(stub.readyState).toBe(1);
    await stub.whole(2);
    expect(stub.messages).toHaveLength(1);
  });

  test("is encoded only a little ahead of its reader", async () => {
    stub.isRead = false;
    worker.send(frameOf("é".repeat(4_000_000)));
    while (stub.bufferedAmount <= 1024 * 1024) await setImmediate();
    for (let turn = 0; turn < 20; turn++) await setImmediate();
    expect(stub.bufferedAmount).toBeLessThan(2 * 1024 * 1024);
    expect(worker.unsentBytes).toBeGreaterThan(4_000_000);
    stub.read();
    await stub.whole(1);
    expect(stub.messages).toHaveLength(1);
    expect(worker.unsentBytes).toBe(0);
    expect(stub.listenerCount("close")).toBe(0);
  });

  test.each([true, false])("is lost with those after it if the socket closes (read: %p)", async (isRead) => {
    stub.isRead = isRead;
    worker.send(frameOf("é".repeat(2_000_000)));
    worker.send({ type: "pong" });
    if (!isRead) while (stub.bufferedAmount <= 1024 * 1024) await setImmediate();
    stub.close();
    while (worker.unsentBytes > stub.bufferedAmount) await setImmediate();
    expect(stub.messages).toEqual([]);
  });
});
