import { afterAll, beforeAll, describe, expect, mock, spyOn, test } from "bun:test";
import { type IIIClient, registerWorker } from "iii-sdk";
import { type Engine, EngineFailure, startEngine } from "./engine.ts";
import { Router } from "./router.ts";

const schema = { title: "Input", type: "object" as const, properties: { path: { type: "string" } } };
let engine: Engine;
let server: IIIClient;

beforeAll(async () => {
  spyOn(console, "debug").mockImplementation(() => {});
  engine = await startEngine();
  server = registerWorker(engine.url, {
    workerName: "library",
    workerDescription: "lends books",
    otel: { enabled: false },
    enableMetricsReporting: false,
  });
  server.registerFunction("library::return", async () => null);
  server.registerFunction("library::checkout", async () => null, {
    description: "Checks one out.",
    request_format: schema,
    response_format: schema,
    metadata: { shelf: 7 },
  });
  server.registerFunction("library::audit", async () => null, { metadata: { internal: true } });
  await server.trigger({ function_id: "engine::workers::list", payload: {} });
});

afterAll(async () => {
  await server.shutdown();
  await engine.stop();
  mock.restore();
});

const checkout = {
  function_id: "library::checkout",
  worker_name: "library",
  description: "Checks one out.",
  metadata: { shelf: 7 },
};
const checkin = { function_id: "library::return", worker_name: "library" };
const audit = { function_id: "library::audit", worker_name: "library", metadata: { internal: true } };

describe("engine::functions::list", () => {
  test("shows what workers offer, by id, without what is internal", async () => {
    expect(await engine.call("engine::functions::list", {})).toEqual({ functions: [checkout, checkin] });
  });

  test("narrows by prefix and by worker", async () => {
    const list = (payload: object) => engine.call("engine::functions::list", payload);
    expect(await list({ prefix: "library::r" })).toEqual({ functions: [checkin] });
    expect(await list({ worker: "museum" })).toEqual({ functions: [] });
    expect(await list({ worker: "library", include_internal: true })).toEqual({
      functions: [audit, checkout, checkin],
    });
    expect(await list({ prefix: 7 }).catch(({ message }) => message)).toContain("`prefix`");
  });

  test("shows the engine's own functions when asked for internal ones", async () => {
    const answer = await engine.call("engine::functions::list", {
      include_internal: true,
      prefix: "engine::c",
    });
    const own = { function_id: "engine::channels::create", worker_name: "iii-engine-functions" };
    expect(answer).toEqual({ functions: [own] });
  });
});

describe("engine::functions::info", () => {
  const detail = { ...checkout, request_schema: schema, response_schema: schema, registered_triggers: [] };

  test("gives the schemas of one function back as they were registered", async () => {
    expect(await engine.call("engine::functions::info", { function_id: "library::checkout" })).toEqual(
      detail,
    );
  });

  test("says when there is no such function", async () => {
    const failure = engine.call("engine::functions::info", { function_id: "constructor" });
    expect(await failure.catch(({ code }) => code)).toBe("NOT_FOUND");
  });

  test("answers several ids in their order, each on its own", async () => {
    const function_ids = ["library::none", "library::checkout", "library::none"];
    expect(await engine.call("engine::functions::info", { function_ids })).toEqual({
      functions: [{ function_id: "library::none", error: "not_found" }, detail],
    });
  });

  const many = Array.from({ length: 33 }, (_, number) => `f${number}`);
  test.each([
    [{ function_ids: "library::checkout" }, "deserialization_error"],
    [{ function_id: 7 }, "deserialization_error"],
    [null, "deserialization_error"],
    ["library::checkout", "deserialization_error"],
    [{}, "INVALID_ARGUMENTS"],
    [[], "INVALID_ARGUMENTS"],
    [{ function_ids: [] }, "INVALID_ARGUMENTS"],
    [{ function_ids: many }, "INVALID_ARGUMENTS"],
    [{ function_id: "library::checkout", function_ids: ["library::checkout"] }, "INVALID_ARGUMENTS"],
  ])("refuses %j with %s", async (payload, expected) => {
    const failure = engine.call("engine::functions::info", payload);
    expect(await failure.catch(({ code }) => code)).toBe(expected);
  });
});

describe("engine::workers", () => {
  const row = {
    name: "library",
    description: "lends books",
    version: "0.22.1",
    id: expect.stringMatching(/^[0-9a-f-]{36}$/),
    runtime: "node",
    os: expect.any(String),
    status: "connected",
    function_count: 3,
    connected_at_ms: expect.any(Number),
    active_invocations: 0,
    isolation: null,
    ip_address: "127.0.0.1",
  };

  const list = (payload: unknown) => engine.call("engine::workers::list", payload);

  test("list shows who is connected, and the engine itself", async () => {
    const own = {
      name: "iii-engine-functions",
      id: "iii-engine-functions",
      runtime: "engine",
      status: "available",
    };
    expect(await list({})).toEqual({ workers: [expect.objectContaining(own), row] });
  });

  test.each([{ runtime: "node" }, { status: "connected" }, { search: "LIBR" }])(
    "list narrows by %j",
    async (filter) => expect(await list(filter)).toEqual({ workers: [row] }),
  );

  test("info shows one worker with all it offers", async () => {
    expect(await engine.call("engine::workers::info", { name: "library" })).toEqual({
      worker: { ...row, pid: process.pid, internal: false },
      functions: [audit, checkout, checkin],
      trigger_types: [],
      registered_triggers: [],
    });
    const failure = engine.call("engine::workers::info", { name: "museum" });
    expect(await failure.catch(({ code }) => code)).toBe("NOT_FOUND");
  });

  test("register is for workers only", async () => {
    const failure = engine.call("engine::workers::register", { name: "engine" });
    expect(await failure.catch(({ message }) => message)).toContain("`_caller_worker_id`");
  });
});

const functions = [
  "workers::register",
  "workers::list",
  "workers::info",
  "functions::list",
  "functions::info",
  "triggers::list",
  "channels::create",
];
const shapeless = functions.flatMap((name) => [null, "s", 7].map((payload) => [`engine::${name}`, payload]));
test.each(shapeless)("%s refuses %j", async (id, payload) => {
  const failure = engine.call(String(id), payload);
  expect(await failure.catch(({ code }) => code)).toBe("deserialization_error");
});

test("what the engine hands out is a copy", async () => {
  const info = () => engine.call("engine::functions::info", { function_id: "library::checkout" });
  Object.assign((await info()) as object, { description: "changed" });
  expect(await info()).toMatchObject({ description: "Checks one out.", request_schema: schema });
});

test("engine::triggers::list shows trigger types, and triggers show where they lead", async () => {
  const handler = { registerTrigger: async () => {}, unregisterTrigger: async () => {} };
  server.registerTriggerType({ id: "clock", description: "ticks" }, handler);
  const trigger = server.registerTrigger({
    type: "clock",
    function_id: "library::return",
    config: { every: 1 },
  });
  await server.trigger({ function_id: "engine::workers::list", payload: {} });
  expect(await engine.call("engine::triggers::list", {})).toEqual({
    triggers: [{ id: "clock", worker_name: "library", description: "ticks" }],
  });
  const bound = { id: expect.any(String), trigger_type: "clock", config: { every: 1 } };
  expect(await engine.call("engine::functions::info", { function_id: "library::return" })).toMatchObject({
    registered_triggers: [bound],
  });
  expect(await engine.call("engine::workers::info", { name: "library" })).toMatchObject({
    trigger_types: [{ id: "clock" }],
    registered_triggers: [{ ...bound, function_id: "library::return", worker_name: "library" }],
  });
  trigger.unregister();
});

test("a function of the engine can be replaced by one that fails", async () => {
  const fail = () => {
    throw new EngineFailure({ code: "invocation_failed", message: "out of order" });
  };
  const router = new Router();
  router.builtins.set("engine::channels::create", fail);
  const failing = await startEngine({ router });
  expect(await failing.call("engine::channels::create", {}).catch((error: Error) => error)).toMatchObject({
    code: "invocation_failed",
  });
  expect(await failing.call("engine::functions::list", {})).toEqual({ functions: [] });
  await failing.stop();
});
