import { afterEach, describe, expect, test } from "bun:test";
import { EngineFailure, type EngineOptions, startEngine } from "../engine/engine.ts";
import { RawWorker, settled } from "../engine/raw-worker.test-kit.ts";
import { Lines, serveEcho } from "./serve.test-kit.ts";

const open: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of open.splice(0).reverse()) await close();
});

async function start(options: EngineOptions = {}) {
  const engine = await startEngine(options);
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
async function joinRival(url: string, name: string): Promise<RawWorker> {
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
  return rival;
}

const taken = "another worker serves test::* on this engine (pid 4242); nothing is served here";

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

  test("a second worker of one name is an error until the first has gone", async () => {
    const engine = await start();
    const rival = await joinRival(engine.url, "tester");
    const { serving, lines } = serve(engine.url);
    await lines.next(/another worker/);
    rival.socket.terminate();
    await serving.registered;
    expect(lines.of("error")).toEqual([taken]);
  });
});

describe("where a second registration is refused", () => {
  test("a worker whose functions another one has serves when that one has gone", async () => {
    const engine = await start({ secondRegistration: "refuse" });
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
    const engine = await start({ secondRegistration: "refuse" });
    await joinRival(engine.url, "tester");
    const { lines } = serve(engine.url);
    const { message } = await lines.next(/Reconnecting/);
    expect(Number(/in (\d+)ms/.exec(message)?.[1])).toBeGreaterThan(20_000);
    expect(lines.of("error", "warn")).toEqual([
      "another worker serves test::* on this engine; nothing is served here",
    ]);
  });
});

test("an engine that knows none of the questions is taken at its word", async () => {
  const unknown = (): never => {
    throw new EngineFailure({ code: "function_not_found", message: "Function not found" });
  };
  const questions = ["engine::functions::info", "engine::workers::info"];
  const engine = await start({ builtins: new Map(questions.map((id) => [id, unknown])) });
  const { serving, lines } = serve(engine.url);
  await serving.registered;
  expect(lines.of("error", "warn", "info")).toEqual([]);
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
  const engine = await startEngine();
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
