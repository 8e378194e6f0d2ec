import { describe, expect, test } from "bun:test";
import { Writable } from "node:stream";
import { maxDepth, maxNumberLength, minSliced, parseInSlices } from "../../../base/scheduling/parse-json.ts";
import type { TimeSlice } from "../../../base/scheduling/time-slice.ts";
import { maxTokens } from "../../../base/schema/message-size.ts";
import { maxIdLength } from "../messages.ts";
import { LineTransport, type LineTransportOptions } from "./line-transport.ts";
import { wholeLines } from "./whole-lines.ts";

/** Opens a transport that records what it passes on and sends. Its output blocks until `drain`. */
async function open(maxBytes = 1000, options: LineTransportOptions = {}) {
  const input = wholeLines(maxBytes);
  const sent: string[] = [];
  const waiting: ((error?: Error) => void)[] = [];
  const output = new Writable({
    highWaterMark: 1,
    write(chunk, _, done) {
      sent.push(String(chunk));
      waiting.push(done);
    },
  });
  const transport = new LineTransport(input, output, options);
  const [messages, errors]: [unknown[], string[]] = [[], []];
  transport.onmessage = (message) => messages.push(message);
  transport.onerror = (error) => errors.push(error.name);
  await transport.start();
  return {
    input,
    output,
    transport,
    messages,
    errors,
    sent,
    drain: (error?: Error) => waiting.shift()?.(error),
  };
}

/** Makes slices that are never used up, so that lines in one chunk are passed on in one turn. */
const createEndless = (): TimeSlice => ({ isDue: false, yieldIfDue: async () => {} });

const turn = () => new Promise((resolve) => setImmediate(resolve));

test("reads no further while a client does not take the answers to what is no message", async () => {
  const { input, messages, sent, drain } = await open(1000, { createSlice: createEndless });
  input.write("nonsense\n");
  await turn();
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\nnonsense\n');
  await turn();
  expect([sent.length, messages.length]).toEqual([1, 0]);
  drain();
  await turn();
  expect([sent.length, messages.length]).toEqual([2, 1]);
});

test("passes on a few messages in each turn, whose answers are made at its end", async () => {
  const { input, messages } = await open(100_000, { createSlice: createEndless });
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  input.write(Array.from({ length: 100 }, (_, index) => ping(index)).join(""));
  for (let before = 0; messages.length < 100; before = messages.length) {
    await turn();
    // The first turn of this loop may follow another.
    expect(messages.length - before).toBeWithin(1, 33);
  }
  input.write(ping(100));
  await turn();
  expect(messages).toHaveLength(101);
});

test("sends when there is room, and does not before", async () => {
  const { transport, drain } = await open();
  const order: string[] = [];
  const sending = transport.send({ jsonrpc: "2.0", method: "x" }).then(() => order.push("sent"));
  await turn();
  order.push("taken");
  drain();
  await sending;
  expect(order).toEqual(["taken", "sent"]);
});

test("is ready when everything is sent", async () => {
  const { transport, drain } = await open();
  await transport.ready();
  for (const method of ["x", "y"]) void transport.send({ jsonrpc: "2.0", method });
  let isReady = false;
  const ready = transport.ready().then(() => {
    isReady = true;
  });
  drain();
  await turn();
  expect(isReady).toBe(false);
  drain();
  await ready;
});

test("takes nothing when paused, and still sends", async () => {
  const { input, transport, messages, sent } = await open();
  void transport.pause();
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  void transport.send({ jsonrpc: "2.0", method: "x" });
  await turn();
  expect([messages.length, sent.length]).toEqual([0, 1]);
});

test("refuses a message that is too large by its id, and reads on", async () => {
  const { input, messages, sent, drain } = await open(1500);
  const text = "x".repeat(5000);
  const params = { id: 9, text, last: { id: 9 } };
  const method = "tools/call";
  const request = { jsonrpc: "2.0", method };
  const large: [message: object, id: unknown][] = [
    [{ ...request, id: 1, params }, 1],
    [{ ...request, params, id: "a-2" }, "a-2"],
    [{ ...request, params: { ...params, text: `"id":7,"${text}` }, id: 3 }, 3],
    [{ ...request, params }, null],
    [{ ...request, params: { id: 9, text } }, null],
    [{ params, ...request }, null],
  ];
  for (const [message, id] of large) {
    for (const piece of `${JSON.stringify(message)}\n`.match(/.{1,700}\n?/g)!) input.write(piece);
    while (sent.length === 0) await turn();
    expect(JSON.parse(sent.pop()!)).toEqual({
      jsonrpc: "2.0",
      id,
      error: { code: -32600, message: expect.stringContaining("A message may have at most") },
    });
    drain();
    await turn();
  }
  input.write('{"jsonrpc":"2.0","id":1,"method":"ping"}\n');
  await turn();
  expect(messages).toHaveLength(1);
});

test("refuses a request whose id is in use, until that is answered or cancelled", async () => {
  const { input, messages, sent, transport, drain } = await open(1000, { createSlice: createEndless });
  const ping = (id: unknown) => `${JSON.stringify({ jsonrpc: "2.0", id, method: "ping" })}\n`;
  const refused = async (line: string) => {
    const before = messages.length;
    input.write(line);
    while (sent.length === 0 && messages.length === before) await turn();
    const [answer] = sent.splice(0);
    if (answer !== undefined) drain();
    await turn();
    return answer && JSON.parse(answer);
  };
  expect(await refused(ping(7))).toBeUndefined();
  expect(await refused(ping(7))).toMatchObject({
    id: 7,
    error: { code: -32600, message: expect.stringContaining("The id 7 belongs to more than one request") },
  });
  expect(await refused(ping("7"))).toBeUndefined();
  void transport.send({ jsonrpc: "2.0", id: 7, result: {} });
  sent.splice(0);
  drain();
  expect(await refused(ping(7))).toBeUndefined();
  const cancel = JSON.stringify({
    jsonrpc: "2.0",
    method: "notifications/cancelled",
    params: { requestId: 7 },
  });
  // A chunk with both: the SDK would cancel the second request.
  expect(await refused(`${cancel}\n${ping(7)}`)).toMatchObject({ id: 7 });
  expect(await refused(ping(7))).toBeUndefined();
  expect(await refused(`[${ping(8)},${ping(8)}]`.replaceAll("\n", "").concat("\n"))).toMatchObject({ id: 8 });
});

describe("a large line", () => {
  const maxBytes = 8 * 1024 * 1024;
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  const text = 'a "line"\n'.repeat(200_000);
  const large = { jsonrpc: "2.0", id: 1, method: "x", params: { text } } as const;

  test("is parsed while other work goes on, and later ones wait for it", async () => {
    const { input, messages } = await open(maxBytes);
    input.write(`${JSON.stringify(large)}\n${ping(2)}`);
    input.write(ping(3));
    let turns = 0;
    for (; messages.length < 3; turns++) await turn();
    expect(messages).toEqual([large, ...[2, 3].map((id) => ({ jsonrpc: "2.0", id, method: "ping" }))]);
    expect(turns).toBeGreaterThan(3);
  });

  test("is passed on before a pause begins, and when the input ends behind it", async () => {
    const { input, messages, transport } = await open(maxBytes);
    input.end(`${JSON.stringify(large)}\n`);
    await turn();
    expect(messages).toEqual([]);
    await transport.pause();
    expect(messages).toEqual([large]);
  });

  test("is refused like a small one, whatever else is being parsed", async () => {
    const { input, messages, sent, drain } = await open(maxBytes);
    const others = parseInSlices(Buffer.from("[]".padEnd(64 * 1024 * 1024)));
    const answers: unknown[] = [];
    const values = "[],".repeat(maxTokens / 3 + 1);
    for (const line of [
      `${JSON.stringify(large).slice(0, -1)}\n`,
      JSON.stringify(large).replace("line", "\xff"),
      JSON.stringify({ ...large, jsonrpc: "1.0" }),
      JSON.stringify(large).replace('{"text"', `{"values":[${values}1],"text"`),
      "[]".padEnd(minSliced),
    ]) {
      input.write(Buffer.from(`${line}\n`, "latin1"));
      while (sent.length === 0) await turn();
      answers.push(JSON.parse(sent.pop()!));
      drain();
      await turn();
    }
    const refusal = (id: unknown, code: number, message: string) => ({
      jsonrpc: "2.0",
      id,
      error: { code, message: expect.stringContaining(message) },
    });
    expect(answers).toEqual([
      refusal(null, -32700, "not JSON"),
      refusal(null, -32700, "not UTF-8"),
      refusal(1, -32600, "no request"),
      refusal(1, -32600, "at most 150000 values"),
      refusal(null, -32600, "at least one message"),
    ]);
    input.write(ping(4));
    while (messages.length === 0) await turn();
    expect(messages).toEqual([{ jsonrpc: "2.0", id: 4, method: "ping" }]);
    await others;
  });
});

test.each([0, minSliced])(
  "no line is read with what no call needs, nor one of %d bytes more",
  async (more) => {
    const { input, messages, sent, drain } = await open(32 * 1024 * 1024);
    const line = (params: string, id: unknown = 7) =>
      `${`{"jsonrpc":"2.0","id":${JSON.stringify(id)},"method":"ping","params":{"x":${params}}}`.padEnd(more)}\n`;
    const answers: unknown[] = [];
    for (const sending of [
      line("[".repeat(100_000) + "]".repeat(100_000)),
      line("1".repeat(100_000)),
      line("0", "x".repeat(100_000)),
    ]) {
      input.write(sending);
      while (sent.length === 0) await turn();
      answers.push(JSON.parse(sent.pop()!));
      drain();
      await turn();
    }
    const refusal = (id: unknown, message: string) => ({
      jsonrpc: "2.0",
      id,
      error: { code: -32600, message: expect.stringContaining(message) },
    });
    expect(answers).toEqual([
      refusal(7, `more than ${maxDepth} levels`),
      refusal(7, `more than ${maxNumberLength} characters`),
      refusal(null, `at most ${maxIdLength} characters`),
    ]);
    expect(messages).toEqual([]);
  },
);

describe("very many small lines in one piece", () => {
  const ping = (id: number) => `{"jsonrpc":"2.0","id":${id},"method":"ping"}\n`;
  const count = 20_000;

  test("are passed on in several turns, before later ones", async () => {
    const { input, messages } = await open();
    const ids = Array.from({ length: count }, (_, id) => id);
    input.write(ids.map(ping).join(""));
    input.write(ping(count));
    let turns = 0;
    for (; messages.length <= count; turns++) await turn();
    expect(messages.map((message) => (message as { id: number }).id)).toEqual([...ids, count]);
    expect(turns).toBeGreaterThan(3);
  });

  test("are refused in several turns, and blank ones are passed over", async () => {
    const { input, messages, sent, drain } = await open(64 * 1024 * 1024);
    input.write("1\n".repeat(count));
    input.write(`${" ".repeat(2 * minSliced)}\n${"\n".repeat(count)}${ping(1)}`);
    let [turns, refused] = [0, 0];
    for (; messages.length === 0; turns++) {
      await turn();
      for (const text of sent.splice(0)) {
        refused += text.split("\n").length - 1;
        drain();
      }
    }
    expect(refused).toBe(count);
    expect(turns).toBeGreaterThan(3);
  });
});

test.each([
  ["messages", '{"jsonrpc":"2.0","method":"x"}'],
  ["what is none", "{}"],
])("the clock is checked before each of a batch of %s, and each line", async (_, message) => {
  let checks = 0;
  const slice: TimeSlice = { isDue: true, yieldIfDue: async () => void checks++ };
  const { input, messages, sent, drain } = await open(1000, { createSlice: () => slice });
  const batch = `[${message},${message}]\n`;
  input.write(`${batch}${batch}nonsense\n`);
  while (!sent.join("").includes("not JSON")) {
    await turn();
    drain();
  }
  expect(checks).toBe(7);
  expect(messages.length + sent.join("").split("\n").length - 1).toBe(5);
});

test("closes when the output breaks, and sends no more", async () => {
  const { output, transport } = await open();
  output.destroy(new Error("EPIPE"));
  await transport.closed;
  expect(transport.send({ jsonrpc: "2.0", method: "x" })).rejects.toThrow();
});

test("says once that it has closed", async () => {
  const { transport } = await open();
  let closes = 0;
  transport.onclose = () => closes++;
  await transport.close();
  await transport.close();
  expect(closes).toBe(1);
});

test("takes the lease of an answer when it is sent, and releases it when that is out", async () => {
  const events: string[] = [];
  const release = () => {
    events.push("released");
  };
  const takeLease = (id: unknown) => {
    events.push(`taken ${id}`);
    return { bytes: 0, reserve: () => undefined, reserveIfIdle: () => true, resize: () => {}, release };
  };
  const { transport, drain } = await open(1000, { takeLease });
  const sending = [
    transport.send({ jsonrpc: "2.0", id: 1, method: "roots/list" }),
    transport.send({ jsonrpc: "2.0", id: 1, result: {} }),
  ];
  expect(events).toEqual(["taken 1"]);
  drain();
  await sending[0];
  expect(events).toEqual(["taken 1"]);
  drain();
  await sending[1];
  expect(events).toEqual(["taken 1", "released"]);
});

describe("large answers", () => {
  const lease = { reserve: () => undefined, reserveIfIdle: () => true, resize: () => {}, release: () => {} };
  const openLarge = () => open(1000, { takeLease: () => ({ ...lease, bytes: 4_000_000 }) });
  const answerOf = (id: number) =>
    ({ jsonrpc: "2.0", id, result: { text: 'é"\n'.repeat(1_000_000) } }) as const;
  const small = (method: string) => ({ jsonrpc: "2.0", method }) as const;
  const idsOf = (sent: readonly string[]) =>
    sent.map((line) => {
      const { id, method } = JSON.parse(line) as { id?: number; method?: string };
      return id ?? method;
    });

  test("are encoded while other messages are sent", async () => {
    const { transport, sent, drain } = await openLarge();
    const answer = answerOf(1);
    void transport.send(answer);
    void transport.send(small("y"));
    expect(sent).toEqual(['{"jsonrpc":"2.0","method":"y"}\n']);
    await transport.written();
    drain();
    await turn();
    expect(sent[1] === `${JSON.stringify(answer)}\n`).toBeTrue();
  });

  test("are written one after the other, and small ones overtake those that wait", async () => {
    const { transport, output, sent, drain } = await openLarge();
    const ended: number[] = [];
    for (const id of [1, 2, 3]) void transport.send(answerOf(id)).then(() => ended.push(id));
    while (output.writableLength === 0) await turn();
    for (let turns = 0; turns < 100; turns++) await turn();
    void transport.send(small("y"));
    for (const length of [1, 2, 3, 4]) {
      while (sent.length < length) await turn();
      drain();
    }
    while (ended.length < 3) await turn();
    expect(idsOf(sent)).toEqual([1, "y", 2, 3]);
    expect(ended).toEqual([1, 2, 3]);
  });

  test("are all handed over when the transport stops, also if nothing is read", async () => {
    const { transport, sent, drain, output } = await openLarge();
    const sending = [1, 2, 3].map((id) => transport.send(answerOf(id)));
    await transport.written();
    expect([sent.length, output.writableLength > 2 * 4_000_000]).toEqual([1, true]);
    for (const length of [1, 2, 3]) {
      while (sent.length < length) await turn();
      drain();
    }
    await Promise.all(sending);
    expect(idsOf(sent)).toEqual([1, 2, 3]);
  });

  test("are not sent if the output breaks before them", async () => {
    const { transport, sent, drain } = await openLarge();
    const sending = Promise.allSettled([1, 2].map((id) => transport.send(answerOf(id))));
    while (sent.length === 0) await turn();
    drain(new Error("EPIPE"));
    expect((await sending).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
    await transport.written();
    expect(idsOf(sent)).toEqual([1]);
  });
});
