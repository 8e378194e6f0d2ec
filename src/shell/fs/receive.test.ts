import { describe, expect, jest, test } from "bun:test";
import { PassThrough } from "node:stream";
import { Refusal } from "../../base/errors.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { ChannelSource } from "../../calls/contract/bus-access.ts";
import { idleMilliseconds } from "./content.ts";
import { type Receiving, receive } from "./receive.ts";

/** A channel in this process. It yields the bytes written to `stream`, and the messages passed to `say`. */
class Channel implements ChannelSource {
  readonly stream = new PassThrough();
  say: (text: string) => void = () => undefined;
  onMessage(listen: (text: string) => void): void {
    this.say = listen;
  }
  close(): void {}
}

/** Returns the bytes, or the refusal. */
async function outcomeOf(channel: Channel, more: Partial<Receiving> = {}): Promise<string | Refusal> {
  const deadline = deadlineIn(Number.POSITIVE_INFINITY);
  const usual = { path: "/f", maxBytes: undefined, announced: undefined, idleMilliseconds: 30_000 };
  const { signal } = new AbortController();
  const pieces: Uint8Array[] = [];
  try {
    for await (const piece of receive(channel, { ...usual, deadline, signal, ...more })) pieces.push(piece);
    return Buffer.concat(pieces).toString();
  } catch (error) {
    if (error instanceof Refusal) return error;
    throw error;
  } finally {
    deadline.end();
  }
}

const refusal = (reason: string, words: string) =>
  expect.objectContaining({ reason, message: expect.stringContaining(words) });

describe("a file that is received", () => {
  test("ends with its channel", async () => {
    const channel = new Channel();
    channel.stream.write("one");
    channel.stream.end("two");
    expect(await outcomeOf(channel)).toBe("onetwo");
  });

  test("of a sender that only pauses is given up", async () => {
    const channel = new Channel();
    channel.stream.write("one");
    expect(await outcomeOf(channel, { idleMilliseconds: 5 })).toEqual(refusal("io", "channel idle"));
    expect(channel.stream.destroyed).toBe(true);
  });

  test("of a sender that never sends is given up before a caller gives up that waits the usual 30 s", async () => {
    jest.useFakeTimers();
    const order: string[] = [];
    setTimeout(() => order.push("the caller gave up"), 30_000);
    const outcome = outcomeOf(new Channel(), { idleMilliseconds }).then(() => order.push("refused"));
    for (let second = 0; second < 31; second++) {
      jest.advanceTimersByTime(1000);
      await new Promise((resolve) => process.nextTick(() => setImmediate(resolve)));
    }
    jest.useRealTimers();
    await outcome;
    expect(order).toEqual(["refused", "the caller gave up"]);
  });

  test("of a sender that takes too long is given up", async () => {
    const deadline = deadlineIn(5);
    expect(await outcomeOf(new Channel(), { deadline })).toEqual(refusal("timeout", "5 ms"));
  });

  test("is not begun when the time is up", async () => {
    const cancelled = AbortSignal.abort();
    expect(await outcomeOf(new Channel(), { deadline: deadlineIn(1000, cancelled) })).toEqual(
      expect.objectContaining({ reason: "timeout" }),
    );
  });

  test("is given up when the worker ends", async () => {
    const controller = new AbortController();
    const outcome = outcomeOf(new Channel(), { signal: controller.signal });
    controller.abort();
    expect(await outcome).toEqual(refusal("io", "the server is stopping"));
  });

  test("may have as many bytes as are allowed, and not one more", async () => {
    const [fits, exceeds] = [new Channel(), new Channel()];
    fits.stream.end("1234");
    exceeds.stream.end("12345");
    expect(await outcomeOf(fits, { maxBytes: 4 })).toBe("1234");
    expect(await outcomeOf(exceeds, { maxBytes: 4 })).toEqual(refusal("too-large", "max_write_bytes"));
  });

  test.each([
    ["the call", { announced: 4 }, undefined],
    ["the sender", {}, '{"size":4}'],
  ])("is not complete with fewer bytes than %s announced", async (_, more, message) => {
    const [whole, dying] = [new Channel(), new Channel()];
    const outcomes = [outcomeOf(whole, more), outcomeOf(dying, more)];
    await Promise.resolve();
    for (const channel of [whole, dying]) if (message !== undefined) channel.say(message);
    whole.stream.end("1234");
    dying.stream.end("123");
    expect(await Promise.all(outcomes)).toEqual(["1234", refusal("io", "3 bytes and 4 were announced")]);
  });

  test("of a sender that reports a failure is given up", async () => {
    const channel = new Channel();
    const outcome = outcomeOf(channel);
    await Promise.resolve();
    channel.stream.write("one");
    channel.say('{"error":"disk full"}');
    expect(await outcome).toEqual(refusal("io", "reported an error"));
  });

  test("takes a message of more than 4,096 characters for another one", async () => {
    const channel = new Channel();
    const outcome = outcomeOf(channel);
    await Promise.resolve();
    channel.say(JSON.stringify({ error: "x".repeat(4096) }));
    channel.stream.end("whole");
    expect(await outcome).toBe("whole");
  });

  test("is not disturbed by other messages", async () => {
    const channel = new Channel();
    const outcome = outcomeOf(channel);
    await Promise.resolve();
    for (const text of ["", "hello", "7", "null", "[]", "{}", '{"size":"x"}', '{"size":-0.5}'])
      channel.say(text);
    channel.stream.end("one");
    expect(await outcome).toBe("one");
  });

  test("of a channel that breaks is given up", async () => {
    const channel = new Channel();
    channel.stream.destroy(new Error("Unexpected server response: 404"));
    expect(await outcomeOf(channel)).toEqual(refusal("io", "cannot be used"));
  });
});
