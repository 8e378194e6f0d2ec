import { afterAll, afterEach, beforeAll, describe, expect, mock, spyOn, test } from "bun:test";
import { type IIIClient, registerWorker, TriggerAction } from "iii-sdk";
import { type Engine, EngineFailure, type RecordedFrame, startEngine } from "./engine.ts";

const frames: RecordedFrame[] = [];
const clients: IIIClient[] = [];
let engine: Engine;

beforeAll(async () => {
  // The SDK logs its connections and their loss.
  spyOn(console, "debug").mockImplementation(() => {});
  spyOn(console, "error").mockImplementation(() => {});
  engine = await startEngine({ onFrame: (frame) => frames.push(frame) });
});

afterEach(async () => {
  await Promise.all(clients.splice(0).map((client) => client.shutdown()));
});

afterAll(async () => {
  await engine.stop();
  mock.restore();
});

function connect(workerName: string): IIIClient {
  const client = registerWorker(engine.url, {
    workerName,
    otel: { enabled: false },
    enableMetricsReporting: false,
  });
  clients.push(client);
  return client;
}

async function serve(id: string, handler: Parameters<IIIClient["registerFunction"]>[1]): Promise<IIIClient> {
  const server = connect(`server of ${id}`);
  server.registerFunction(id, handler);
  await engine.waitForFunction(id);
  return server;
}

function failureOf(promise: Promise<unknown>): Promise<unknown> {
  return promise.then(
    (value) => expect.unreachable(`resolved to ${JSON.stringify(value)}`),
    (error: unknown) => error,
  );
}

describe("a call from a worker", () => {
  test("gets the result and tells the handler who called", async () => {
    await serve("t::echo", async (data) => ({ got: data }));
    const result = await connect("client").trigger<unknown, { got: Record<string, unknown> }>({
      function_id: "t::echo",
      payload: { text: "é\u2028😀", _caller_worker_id: "forged" },
    });
    expect(result.got["text"]).toBe("é\u2028😀");
    expect(result.got["_caller_worker_id"]).toMatch(/^[0-9a-f-]{36}$/);
  });

  test.each([[["a", null]], ["text"], [7], [null]])(
    "passes %j, which is no object, unchanged",
    async (payload) => {
      await serve("t::same", async (data) => ({ got: data }));
      expect(await connect("client").trigger({ function_id: "t::same", payload })).toEqual({ got: payload });
    },
  );

  test("passes metadata beside the payload", async () => {
    await serve("t::meta", async (_data, metadata) => ({ metadata }));
    const request = { function_id: "t::meta", payload: {}, metadata: { trace: [1] } };
    expect(await connect("client").trigger(request)).toEqual({ metadata: { trace: [1] } });
  });

  test("gets the error of the handler under one code, with its stack", async () => {
    await serve("t::fail", async () => {
      throw new Error('handler error: {"code":"C211","message":"no"}');
    });
    expect(await failureOf(connect("client").trigger({ function_id: "t::fail", payload: {} }))).toMatchObject(
      {
        code: "invocation_failed",
        message: 'invocation_failed: handler error: {"code":"C211","message":"no"}',
        stacktrace: expect.stringContaining("C211"),
      },
    );
  });

  test("to a function nobody offers fails at once", async () => {
    const client = connect("client");
    expect(await failureOf(client.trigger({ function_id: "t::none", payload: {} }))).toMatchObject({
      code: "function_not_found",
      message: "function_not_found: Function t::none not found",
    });
  });

  test("to a function that was unregistered fails at once", async () => {
    const server = connect("server");
    const gone = server.registerFunction("t::gone", async () => "here");
    await engine.waitForFunction("t::gone");
    gone.unregister();
    await server.trigger({ function_id: "engine::workers::list", payload: {} });
    expect(await failureOf(engine.call("t::gone", {}))).toMatchObject({ code: "function_not_found" });
  });

  test("without an answer wanted is delivered, and its error is swallowed", async () => {
    const { promise: delivered, resolve } = promiseOf<unknown>();
    await serve("t::void", async (data) => {
      resolve(data);
      throw new Error("nobody hears this");
    });
    const client = connect("client");
    await client.trigger({ function_id: "t::void", payload: { n: 1 }, action: TriggerAction.Void() });
    expect(await delivered).toMatchObject({ n: 1 });
  });

  test("to a queue is refused", async () => {
    const request = { function_id: "t::echo", payload: {}, action: TriggerAction.Enqueue({ queue: "q" }) };
    expect(await failureOf(connect("client").trigger(request))).toMatchObject({ code: "enqueue_error" });
  });

  test("is answered on its own, however many are under way", async () => {
    const held: (() => void)[] = [];
    await serve("t::hold", async ({ n }: { n: number }) => {
      await new Promise<void>((resolve) => {
        held.push(resolve);
        if (held.length === 200) for (const release of held.reverse()) release();
      });
      return n;
    });
    const client = connect("client");
    const numbers = Array.from({ length: 200 }, (_, n) => n);
    const calls = numbers.map((n) => client.trigger({ function_id: "t::hold", payload: { n } }));
    expect(await Promise.all(calls)).toEqual(numbers);
  });
});

describe("what passes through", () => {
  test("comes out with sorted keys, and null results as nothing", async () => {
    await serve("t::keys", async () => ({ b: 1, a: { d: 1, c: 2 } }));
    await serve("t::null", async () => null);
    const client = connect("client");
    frames.length = 0;
    await client.trigger({ function_id: "t::keys", payload: {} });
    expect(await client.trigger({ function_id: "t::null", payload: {} })).toBeUndefined();
    const results = frames.filter(
      ({ direction, text }) => direction === "sent" && text.includes("invocationresult"),
    );
    expect(results[0]?.text).toEndWith(`"result":{"a":{"c":2,"d":1},"b":1}}`);
    expect(results[1]?.text).toEndWith(`"function_id":"t::null"}`);
  });

  test("may be large, and a small call does not wait for it", async () => {
    await serve("t::large", async ({ text }: { text: string }) => text.length);
    const client = connect("client");
    const order: string[] = [];
    const call = (name: string, text: string) =>
      client.trigger({ function_id: "t::large", payload: { text } }).finally(() => order.push(name));
    // Waits until the connection is open, so that both are sent at once.
    await call("first", "");
    expect(await Promise.all([call("large", 'a "line"\n'.repeat(200_000)), call("small", "x")])).toEqual([
      1_800_000, 1,
    ]);
    expect(order).toEqual(["first", "small", "large"]);
  });

  test("may be large, and gets the caller's id, which nobody can forge", async () => {
    await serve("t::caller", async (payload: unknown) => payload);
    const client = connect("client");
    const call = (payload: object) =>
      client.trigger<unknown, Record<string, unknown>>({ function_id: "t::caller", payload });
    const { _caller_worker_id: id } = await call({});
    for (const length of [10, 5000, 600_000]) {
      const text = "x".repeat(length);
      expect(await call({ _caller_worker_id: "forged", text })).toEqual({ _caller_worker_id: id, text });
    }
  });

  test("to the engine itself has at most 512 KiB of input", async () => {
    const client = connect("client");
    const call = (length: number) =>
      client.trigger({
        function_id: "engine::functions::info",
        payload: { function_ids: ["none"], x: "x".repeat(length) },
      });
    expect(await call(500_000)).toBeDefined();
    expect(await failureOf(call(600_000))).toMatchObject({ code: "deserialization_error" });
  });

  test("is limited to 16 MiB a message, and one more byte costs the sender its connection", async () => {
    await serve("t::size", async ({ bytes }: { bytes: number }) => "x".repeat(bytes));
    const client = connect("client");
    const ask = (bytes: number) =>
      client.trigger<unknown, string>({ function_id: "t::size", payload: { bytes } });
    const mebibyte = 1024 * 1024;
    expect(await ask(15.9 * mebibyte)).toHaveLength(Math.floor(15.9 * mebibyte));
    expect(await failureOf(ask(16 * mebibyte))).toMatchObject({ code: "invocation_stopped" });
    await engine.waitForFunction("t::size");
    expect(await ask(3)).toBe("xxx");
  });
});

describe("a call from the engine", () => {
  test("carries the payload as it is, and metadata", async () => {
    await serve("t::raw", async (data, metadata) => ({ data, metadata }));
    expect(await engine.call("t::raw", { a: 1 }, { metadata: "m" })).toEqual({
      data: { a: 1 },
      metadata: "m",
    });
    expect(await engine.call("t::raw", undefined)).toEqual({ data: null });
  });

  test("rejects with the error as it was on the wire", async () => {
    await serve("t::throws", async () => {
      throw "a string";
    });
    const failure = await failureOf(engine.call("t::throws", {}));
    expect(failure).toBeInstanceOf(EngineFailure);
    expect(failure).toMatchObject({ code: "invocation_failed", message: "a string", stacktrace: undefined });
  });

  test("can be awaited with expect", async () => {
    await serve("t::matcher", async () => 1);
    await expect(engine.call("t::matcher", {})).resolves.toBe(1);
    await expect(engine.call("t::nobody", {})).rejects.toMatchObject({ code: "function_not_found" });
  });
});

describe("a call under way", () => {
  test("ends with invocation_stopped when its server goes", async () => {
    const { promise: bothStarted, resolve: start } = promiseOf<void>();
    let calls = 0;
    const server = await serve("t::never", () => {
      if (++calls === 2) start();
      return new Promise(() => {});
    });
    const fromWorker = failureOf(connect("client").trigger({ function_id: "t::never", payload: {} }));
    const fromEngine = failureOf(engine.call("t::never", {}));
    await bothStarted;
    await server.shutdown();
    const stopped = { code: "invocation_stopped", message: "Invocation stopped" };
    expect(await fromEngine).toMatchObject(stopped);
    expect(await fromWorker).toMatchObject({ ...stopped, message: "invocation_stopped: Invocation stopped" });
  });

  test("is forgotten when its caller goes, and the late answer is dropped", async () => {
    const { promise: started, resolve: start } = promiseOf<void>();
    const { promise: released, resolve: release } = promiseOf<void>();
    await serve("t::late", async () => {
      start();
      await released;
      return "late";
    });
    const client = connect("client");
    const abandoned = failureOf(client.trigger({ function_id: "t::late", payload: {} }));
    await started;
    await client.shutdown();
    expect(String(await abandoned)).toContain("shutting down");
    release();
    expect(await engine.call("t::late", {})).toBe("late");
  });
});

function promiseOf<Value>(): { promise: Promise<Value>; resolve: (value: Value) => void } {
  let resolve: (value: Value) => void = () => {};
  const promise = new Promise<Value>((settle) => {
    resolve = settle;
  });
  return { promise, resolve };
}

test("a large frame that is neither a call nor a result is dropped", async () => {
  const client = connect("client");
  await client.trigger({ function_id: "engine::workers::list", payload: {} });
  client.registerFunction("t::described", async () => 1, { description: "x".repeat(600_000) });
  await client.trigger({ function_id: "engine::workers::list", payload: {} });
  while (!frames.some(({ fault }) => fault === "too large"))
    await new Promise((resolve) => setImmediate(resolve));
  expect(await failureOf(client.trigger({ function_id: "t::described", payload: {} }))).toMatchObject({
    code: "function_not_found",
  });
});
