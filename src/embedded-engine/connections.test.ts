import { afterEach, beforeEach, describe, expect, mock, spyOn, test } from "bun:test";
import { once } from "node:events";
import { setImmediate } from "node:timers/promises";
import { registerWorker } from "iii-sdk";
import { type Engine, type EngineOptions, type RecordedFrame, startEngine } from "./engine.ts";
import { type JoinedWorker, RawWorker, settled } from "./raw-worker.test-kit.ts";
import { Router } from "./router.ts";

let engine: Engine;
let workers: RawWorker[] = [];

async function start(options: EngineOptions = {}): Promise<void> {
  engine = await startEngine(options);
}

async function join(): Promise<JoinedWorker> {
  const worker = await RawWorker.join(engine.url);
  workers.push(worker);
  return worker;
}

beforeEach(() => {
  spyOn(console, "debug").mockImplementation(() => {});
  spyOn(console, "error").mockImplementation(() => {});
});

afterEach(async () => {
  for (const { socket } of workers) socket.terminate();
  workers = [];
  await engine.stop();
  mock.restore();
});

describe("a connection", () => {
  const frames: RecordedFrame[] = [];
  beforeEach(() => {
    frames.length = 0;
    return start({ maxMessageBytes: 1024, onFrame: (frame) => frames.push(frame) });
  });

  test("survives frames that are dropped, and the drop is on record", async () => {
    const worker = await join();
    worker.send('{"type":"registerfunction","id":"lost","description":"\\ud800"}');
    worker.send("not JSON");
    worker.socket.send(Buffer.from('OTLP{"resourceSpans":[]}'));
    worker.send('{"type":"registerfunction","id":"twice","id":"twice"}');
    worker.socket.send(Buffer.from('{"type":"registerfunction","id":"\xff"}', "latin1"));
    await settled(worker);
    const faults = frames.filter(({ direction }) => direction === "received").map(({ fault }) => fault);
    expect(faults).toEqual(["an unpaired surrogate", "not JSON", "a key twice", "not UTF-8", undefined]);
    expect(await engine.call("engine::functions::list", {})).toEqual({ functions: [] });
  });

  test("takes JSON in binary frames", async () => {
    const worker = await join();
    worker.socket.send(Buffer.from('{"type":"ping"}'));
    expect(await worker.next()).toEqual({ type: "pong" });
  });

  test("answers pings of both kinds", async () => {
    const worker = await join();
    await settled(worker);
    worker.socket.ping("still there?");
    const [data] = await once(worker.socket, "pong");
    expect(String(data)).toBe("still there?");
  });

  test("ends with a message over the limit, and what it registered with it", async () => {
    const worker = await join();
    worker.send({ type: "registerfunction", id: "f" });
    worker.send(JSON.stringify({ type: "ping", fill: "" }).replace('""', `"${"x".repeat(1024 - 25)}"`));
    expect(await worker.next()).toEqual({ type: "pong" });
    worker.send("x".repeat(1025));
    await once(worker.socket, "close");
    expect(await engine.call("engine::functions::list", {})).toEqual({ functions: [] });
  });

  test("is retired by the worker that shows its token, and by nobody else", async () => {
    const old = await join();
    old.send({ type: "registerfunction", id: "f" });
    await settled(old);
    const { worker_id: previous_worker_id, reattach_token } = old.welcome;
    const thief = await join();
    thief.send({ type: "reattach", previous_worker_id, reattach_token: thief.welcome["reattach_token"] });
    thief.send({ type: "reattach", previous_worker_id });
    await settled(thief);
    await settled(old);
    const back = await join();
    back.send({ type: "reattach", previous_worker_id, reattach_token });
    await once(old.socket, "close");
    expect(await engine.call("f", {}).catch(({ code }) => code)).toBe("function_not_found");
  });
});

describe("a function", () => {
  beforeEach(() => start());

  test("belongs to whoever registered it last, and only its owner takes it away", async () => {
    const first = await join();
    const second = await join();
    first.send({ type: "registerfunction", id: "f" });
    await settled(first);
    second.send({ type: "registerfunction", id: "f" });
    await settled(second);
    first.send({ type: "unregisterfunction", id: "f" });
    await settled(first);
    first.socket.close();
    await once(first.socket, "close");
    const answer = engine.call("f", { a: 1 });
    const invocation = await second.next();
    expect(invocation).toMatchObject({ type: "invokefunction", function_id: "f", data: { a: 1 } });
    second.send({ ...invocation, type: "invocationresult", result: "second" });
    expect(await answer).toBe("second");
  });

  test("is answered once, by whoever knows the id of the call, which its caller chose", async () => {
    const server = await join();
    const client = await join();
    const stranger = await join();
    server.send({ type: "registerfunction", id: "f" });
    await settled(server);
    const invocation_id = crypto.randomUUID();
    client.send({ type: "invokefunction", invocation_id, function_id: "f", data: {} });
    expect(await server.next()).toMatchObject({ invocation_id });
    stranger.send({ type: "invocationresult", invocation_id, function_id: "f", result: "a stranger's" });
    await settled(stranger);
    server.send({ type: "invocationresult", invocation_id, function_id: "f", result: "late" });
    await settled(server);
    expect(await client.next()).toMatchObject({ invocation_id, result: "a stranger's" });
    await settled(client);
  });

  test("gives up a call whose id is used again", async () => {
    const server = await join();
    const client = await join();
    server.send({ type: "registerfunction", id: "f" });
    await settled(server);
    const call = { type: "invokefunction", invocation_id: crypto.randomUUID(), function_id: "f", data: {} };
    client.send(call);
    client.send(call);
    expect(await client.next()).toMatchObject({
      error: { code: "invocation_error", message: "channel closed" },
    });
    server.send({ ...call, type: "invocationresult", result: 1 });
    expect(await client.next()).toMatchObject({ result: 1 });
  });

  test("that answers with a result and an error has failed", async () => {
    const server = await join();
    const client = await join();
    server.send({ type: "registerfunction", id: "f" });
    await settled(server);
    const invocation_id = crypto.randomUUID();
    client.send({ type: "invokefunction", invocation_id, function_id: "f", data: {} });
    const error = { code: "c", message: "m" };
    server.send({ type: "invocationresult", invocation_id, function_id: "f", result: 1, error });
    expect(await client.next()).toEqual({ type: "invocationresult", invocation_id, function_id: "f", error });
  });

  test("learns of the caller's trace and for what it was called; the caller gets back its own", async () => {
    const server = await join();
    const client = await join();
    server.send({ type: "registerfunction", id: "a::f" });
    await settled(server);
    const invocation_id = crypto.randomUUID();
    const [traceparent, baggage] = ["00-aa-bb-01", "iii.function.id=mine,k=v"];
    client.send({
      type: "invokefunction",
      invocation_id,
      function_id: "a::f",
      data: {},
      traceparent,
      baggage,
    });
    expect(await server.next()).toMatchObject({ traceparent, baggage: "k=v,iii.function.id=a::f" });
    const own = { traceparent: "00-cc-dd-01", baggage: "x=y" };
    server.send({ type: "invocationresult", invocation_id, function_id: "a::f", ...own });
    expect(await client.next()).toMatchObject({ traceparent, baggage });
    const long = { invocation_id: crypto.randomUUID(), baggage: "k=v,".repeat(3000) };
    client.send({ type: "invokefunction", function_id: "a::f", data: {}, traceparent, ...long });
    expect(await server.next()).toMatchObject({ traceparent, baggage: "iii.function.id=a::f" });
  });

  test("is not waited for longer than the engine runs", async () => {
    const waiting = engine.waitForFunction("never").catch(({ code }) => code);
    await engine.stop();
    expect(await waiting).toBe("invocation_stopped");
    expect(await engine.waitForFunction("never").catch(({ code }) => code)).toBe("invocation_stopped");
  });
});

describe("a trigger", () => {
  const trigger = { type: "registertrigger", id: "t", trigger_type: "clock", function_id: "f", config: {} };
  beforeEach(() => start());

  test("goes to the provider of its type, whose answer goes to its owner", async () => {
    const provider = await join();
    provider.send({ type: "registertriggertype", id: "clock", description: "ticks" });
    await settled(provider);
    const owner = await join();
    owner.send(trigger);
    expect(await provider.next()).toEqual(trigger);
    const report = { type: "triggerregistrationresult", id: "t", trigger_type: "clock", function_id: "f" };
    provider.send(report);
    expect(await owner.next()).toEqual(report);
    owner.socket.close();
    expect(await provider.next()).toEqual({ type: "unregistertrigger", id: "t", trigger_type: "clock" });
  });

  test("of a type that nobody provides is held silently until somebody does", async () => {
    const owner = await join();
    owner.send(trigger);
    await settled(owner);
    const provider = await join();
    provider.send({ type: "registertriggertype", id: "clock", description: "ticks" });
    expect(await provider.next()).toEqual(trigger);
  });

  test("waits for its provider to come back", async () => {
    const provider = await join();
    const type = { type: "registertriggertype", id: "clock", description: "ticks" };
    provider.send(type);
    await settled(provider);
    const owner = await join();
    owner.send(trigger);
    await provider.next();
    provider.socket.close();
    await once(provider.socket, "close");
    const back = await join();
    back.send(type);
    expect(await back.next()).toEqual(trigger);
  });
});

describe("an SDK worker", () => {
  test("comes back by itself after a crash of the engine's connections, with all it offers", async () => {
    const frames: RecordedFrame[] = [];
    await start({ onFrame: (frame) => frames.push(frame) });
    const server = registerWorker(engine.url, {
      otel: { enabled: false },
      enableMetricsReporting: false,
      reconnectionConfig: { initialDelayMs: 10 },
    });
    server.registerFunction("sdk::kept", async () => "kept");
    await engine.waitForFunction("sdk::kept");
    const late = server.registerFunction("sdk::dropped", async () => "dropped");
    await engine.waitForFunction("sdk::dropped");
    engine.dropConnections();
    late.unregister();
    expect(await engine.call("sdk::kept", {}).catch(({ code }) => code)).toBe("function_not_found");
    await engine.waitForFunction("sdk::kept");
    expect(await engine.call("sdk::kept", {})).toBe("kept");
    expect(await engine.call("sdk::dropped", {}).catch(({ code }) => code)).toBe("function_not_found");
    expect(frames.some(({ text }) => text.startsWith('{"type":"reattach"'))).toBeTrue();
    await server.shutdown();
  });
});

test("a worker that does not read its answers is cut off, and others go on", async () => {
  await start({ maxUnsentBytes: 4 * 1024 * 1024 });
  const [caller, server] = [await join(), await join()];
  const callerId = caller.welcome["worker_id"] as string;
  server.send({ type: "registerfunction", id: "library::checkout" });
  await settled(server);
  caller.socket.pause();
  for (const invocation_id of [1, 2].map((count) => `00000000-0000-4000-8000-00000000000${count}`)) {
    caller.send({ type: "invokefunction", invocation_id, function_id: "library::checkout", data: null });
  }
  const result = "x".repeat(15 * 1024 * 1024);
  for (const { invocation_id } of [await server.next(), await server.next()])
    server.send({ type: "invocationresult", invocation_id, function_id: "library::checkout", result });
  while (engine.unsentBytesTo(callerId) <= 15 * 1024 * 1024) await setImmediate();
  while (engine.unsentBytesTo(callerId) > 0) await setImmediate();
  const closed = once(caller.socket, "close");
  caller.socket.resume();
  await closed;
  await settled(server);
});

test("a worker that sends more large frames than are parsed is cut off", async () => {
  await start({ maxUnparsedLength: 1_000_000 });
  const caller = await join();
  const call = (length: number) =>
    caller.send({ type: "invokefunction", function_id: "library::none", data: "x".repeat(length) });
  call(900_000);
  await settled(caller);
  const closed = once(caller.socket, "close");
  call(1_100_000);
  await closed;
});

test("a large answer reaches its caller although the server leaves right after it", async () => {
  await start();
  const [caller, server] = [await join(), await join()];
  server.send({ type: "registerfunction", id: "library::checkout" });
  await settled(server);
  const invocation_id = "00000000-0000-4000-8000-000000000001";
  caller.send({ type: "invokefunction", invocation_id, function_id: "library::checkout", data: null });
  await server.next();
  const result = "x\n".repeat(3_000_000);
  server.send({ type: "invocationresult", invocation_id, function_id: "library::checkout", result });
  server.socket.close();
  expect(await caller.next()).toMatchObject({ type: "invocationresult", result });
  await settled(caller);
});

test("frames that come together are taken in order, in several turns, and before the end of their worker", async () => {
  const router = new Router();
  const taken: { turn: number; index: number }[] = [];
  let turn = 0;
  router.builtins.set("test::busy", (index) => {
    taken.push({ turn, index: Number(index) });
    for (const until = performance.now() + 3; performance.now() < until; );
    return index;
  });
  await start({ router });
  const worker = await join();
  for (let index = 0; index < 20; index++)
    worker.send({ type: "invokefunction", function_id: "test::busy", data: index });
  worker.socket.close();
  for (; router.workers.size > 0; turn++) await setImmediate();
  expect(taken.map(({ index }) => index)).toEqual(Array.from({ length: 20 }, (_, index) => index));
  expect(new Set(taken.map(({ turn }) => turn)).size).toBeGreaterThan(10);
});
