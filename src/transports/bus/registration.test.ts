import { afterEach, describe, expect, test } from "bun:test";
import { type Behaviour, startProduction } from "../../../tests/harness/engines/production-router.ts";
import { EngineFailure } from "../../embedded-engine/engine.ts";
import { RawWorker, settled } from "../../embedded-engine/raw-worker.test-kit.ts";
import { Lines, serveEcho } from "./serve-bus.test-kit.ts";

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: Behaviour = {}) {
  const engine = await startProduction(options);
  open.push(() => engine.stop());
  return engine;
}

function serve(...[url, more]: [string, Parameters<typeof serveEcho>[2]?]) {
  const lines = new Lines();
  const serving = serveEcho(url, lines, more);
  open.push(() => serving.stop());
  return { serving, lines };
}

/** Joins a worker that has `test::echo` before ours comes. */
async function joinRival(url: string, name: string, when: "stays" | "leaves" = "stays") {
  const rival = await RawWorker.join(url);
  open.push(() => rival.socket.terminate());
  rival.send({ type: "registerfunction", id: "test::echo" });
  rival.send({
    type: "invokefunction",
    function_id: "engine::workers::register",
    data: { name, pid: 4242 },
    action: { type: "void" },
  });
  await settled(rival);
  // Like a worker of another version, it refuses a payload that is not an object.
  rival.socket.on("message", (data) => {
    const { type, invocation_id, function_id } = JSON.parse(String(data));
    if (type !== "invokefunction") return;
    if (when === "leaves") {
      rival.socket.terminate();
      return;
    }
    const error = { code: "invocation_failed", message: "invalid type: string" };
    rival.send({ type: "invocationresult", invocation_id, function_id, error });
  });
  return rival;
}

const taken = "another worker serves test::* on this engine; nothing is served here";

describe("where the last registration wins", () => {
  test("a worker whose functions went with a later one registers them again", async () => {
    const engine = await start();
    const first = serve(engine.url);
    await first.serving.registered;
    const second = serve(engine.url, { name: "second" });
    await second.serving.registered;
    await first.lines.next(/another worker serves/);
    await second.serving.stop();
    await first.lines.next(/^registered again$/);
    expect(await engine.call("test::echo", { value: 1 })).toEqual({ value: 1 });
    expect(first.lines.of("warn")).toEqual(["functions were gone, registered again"]);
  });

  test("the worker that gets the calls serves, whatever worker the engine names", async () => {
    const engine = await start();
    await joinRival(engine.url, "rival");
    const { serving, lines } = serve(engine.url);
    await serving.registered;
    const named = await engine.call("engine::functions::info", { function_ids: ["test::echo"] });
    expect(named).toMatchObject({ functions: [{ worker_name: "rival" }] });
    expect(await engine.call("test::echo", { value: 1 })).toEqual({ value: 1 });
    expect(lines.of("error", "warn")).toEqual([]);
  });

  test("a worker whose function a later one has says so, until that has gone", async () => {
    const engine = await start();
    const { serving, lines } = serve(engine.url);
    await serving.registered;
    const rival = await joinRival(engine.url, "tester");
    await lines.next(/another worker/);
    expect(lines.of("error")).toEqual([taken]);
    rival.socket.terminate();
    await lines.next(/^registered again$/);
  });
});

describe("where a second registration is refused", () => {
  test("a worker whose functions another one has serves when that one has gone", async () => {
    const engine = await start({ version: "0.23" });
    const rival = await joinRival(engine.url, "rival");
    const { serving, lines } = serve(engine.url);
    await lines.next(/another worker/);
    expect(lines.of("error")).toEqual([taken]);
    rival.socket.terminate();
    await serving.registered;
    expect(await engine.call("test::echo", { value: 1 })).toEqual({ value: 1 });
    expect(lines.of("warn")).toEqual(["functions were gone, registered again"]);
  });

  test("a worker whose name another one has says so once and waits half a minute", async () => {
    const engine = await start({ version: "0.23" });
    await joinRival(engine.url, "tester");
    const { lines } = serve(engine.url);
    const { message } = await lines.next(/Reconnecting/);
    expect(Number(/in (\d+)ms/.exec(message)?.[1])).toBeGreaterThan(20_000);
    expect(lines.of("error", "warn")).toEqual([
      "another worker serves test::* on this engine; nothing is served here",
    ]);
  });
});

test("an engine that loses every answer is believed by the calls that arrive", async () => {
  const engine = await start({ loseAnswersWithinMilliseconds: Number.POSITIVE_INFINITY });
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  expect(lines.of("error", "warn")).toEqual([]);
});

test("an engine that lets no worker call these functions is believed", async () => {
  const forbid = (): never => {
    throw new EngineFailure({ code: "FORBIDDEN", message: "not allowed" });
  };
  const engine = await start({ builtins: new Map([["test::echo", forbid]]) });
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  expect(lines.of("error", "warn")).toEqual([]);
});

test("a probe that ends with its worker says nothing about the function", async () => {
  const engine = await start({ version: "0.23" });
  const rival = await joinRival(engine.url, "rival", "leaves");
  const { serving, lines } = serve(engine.url);
  await new Promise((resolve) => rival.socket.once("close", resolve));
  await serving.registered;
  expect(await engine.call("test::echo", { value: 1 })).toEqual({ value: 1 });
  expect(lines.of("warn")).toEqual(["functions were gone, registered again"]);
});

test("a probe of another worker is answered with the process, and is no call", async () => {
  const engine = await start();
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  const calls = lines.of("info");
  const probe = "coder-registration:00000000-0000-4000-8000-000000000000";
  expect(await engine.call("test::echo", probe)).toEqual({ probe, pid: process.pid });
  expect(lines.of("info")).toEqual(calls);
});

test("functions are found registered where calls overtake each other", async () => {
  const engine = await start({ delivery: "out-of-order" });
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  expect(lines.of("error")).toEqual([]);
});

test("the end of a connection and the return are said", async () => {
  const engine = await start();
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  engine.dropConnections();
  await lines.next(/^registered again$/);
  const logged = lines.of("error", "warn", "info");
  // The SDK was perhaps about to send something.
  expect(logged.filter((line) => line !== "[iii] Failed to send message")).toEqual([
    "connection lost",
    "registered again",
  ]);
});

test("a worker that is stopped before there is an engine has registered nothing", async () => {
  const engine = await startProduction();
  await engine.stop();
  const { serving, lines } = serve(engine.url);
  let isRegistered = false;
  void serving.registered.then(() => {
    isRegistered = true;
  });
  await lines.next(/no engine answers/);
  await serving.stop();
  expect(isRegistered).toBe(false);
});
