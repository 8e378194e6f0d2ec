import { afterEach, expect, test } from "bun:test";
import { inOneStep } from "../../base/scheduling/time-slice.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { WrittenAnswer } from "../../calls/contract/prepared-answer.ts";
import { type Engine, type RecordedFrame, startEngine } from "../../embedded-engine/engine.ts";
import { callInNamespace, connect } from "./bus.ts";
import { echo, Lines, serveEcho } from "./serve-bus.test-kit.ts";

type Frame = Readonly<Record<string, unknown>> & { readonly data?: Readonly<Record<string, unknown>> };

let engine: Engine;
const frames: Frame[] = [];
const lines = new Lines();

async function start(): Promise<void> {
  const onFrame = ({ direction, text }: RecordedFrame) => {
    if (direction === "received") frames.push(JSON.parse(text));
  };
  engine = await startEngine({ onFrame });
}

const callsOf = (id: string) => frames.filter(({ function_id }) => function_id === id);

afterEach(async () => {
  frames.length = 0;
  await engine.stop();
});

test("a worker names its namespace in the first call of each connection, and probes in it", async () => {
  await start();
  const serving = serveEcho(engine.url, lines, { namespace: "dev" });
  await serving.registered;
  engine.dropConnections();
  await lines.next(/registered again/);
  const calls = frames.filter(({ type }) => type === "invokefunction");
  expect(calls[0]).toMatchObject({ function_id: "engine::workers::register", data: { namespace: "dev" } });
  const registrations = callsOf("engine::workers::register");
  expect(registrations.map(({ data }) => [data?.["namespace"], data?.["name"]])).toEqual([
    ["dev", "tester"],
    ["dev", "tester"],
  ]);
  const [probe] = callsOf("test::echo");
  expect([probe?.["namespace"], probe?.data]).toEqual(["dev", expect.stringMatching(/^coder-registration:/)]);
  await serving.stop();
});

test("without a namespace nothing says one", async () => {
  await start();
  const serving = serveEcho(engine.url, lines);
  await serving.registered;
  expect(JSON.stringify(frames)).not.toContain("namespace");
  await serving.stop();
});

test("a client calls in its namespace, and the engine's own functions without", async () => {
  await start();
  const client = connect(engine.url, { name: "c", description: "", namespace: "dev" }, lines.log);
  callInNamespace(client, "dev");
  for (const function_id of ["test::none", "engine::workers::list"])
    await client.trigger({ function_id, payload: {} }).catch(() => undefined);
  expect(callsOf("test::none")).toMatchObject([{ namespace: "dev" }]);
  expect(callsOf("engine::workers::list")[0]).not.toHaveProperty("namespace");
  expect(callsOf("engine::workers::register")).toMatchObject([{ data: { namespace: "dev" } }]);
  await client.shutdown();
});

test("a call whose payload looks like a refusal is a call", async () => {
  await start();
  const serving = serveEcho(engine.url, lines);
  await serving.registered;
  const value = { type: "registrationrejected", code: "WORKER_NAMESPACE_CONFLICT" };
  expect(await engine.call("test::echo", { value })).toEqual({ value });
  await serving.stop();
});

test("nothing that a peer sends reaches the log when it makes no sense", async () => {
  await start();
  const client = connect(engine.url, { name: "c", description: "" }, lines.log);
  await client.trigger({ function_id: "engine::workers::list", payload: {} });
  const { onMessage } = client as unknown as { onMessage(message: Buffer): void };
  onMessage.call(client, Buffer.from("SECRET words"));
  await lines.next(/parse/);
  expect(JSON.stringify(lines.all)).not.toContain("SECRET");
  await client.shutdown();
});

const json = `{"a":["${"x".repeat(5000)}"],"b":1}`;

const writtenForm = (value: object) => {
  const text = JSON.stringify(value);
  return new WrittenAnswer(text, Buffer.byteLength(text), (json) => inOneStep(() => JSON.parse(json)));
};

/** A function with a written answer. */
const writer: FunctionDefinition = {
  ...echo,
  id: "test::writer",
  handle: () =>
    new WrittenAnswer(json, json.length, (text) => inOneStep(() => ({ ...JSON.parse(text), read: true }))),
};

test("the text of an answer goes to the caller as it was written", async () => {
  await start();
  const serving = serveEcho(engine.url, lines, { functions: [writer] });
  await serving.registered;
  const client = connect(engine.url, { name: "c", description: "" }, lines.log);
  const payload = { value: 1 };
  expect(await client.trigger({ function_id: "test::writer", payload })).toEqual(JSON.parse(json));
  expect(await engine.call("test::writer", payload)).toEqual(JSON.parse(json));
  expect(
    frames.find(({ type, result }) => type === "invocationresult" && !("probe" in (result as object))),
  ).toMatchObject({
    function_id: "test::writer",
    result: JSON.parse(json),
  });
  await client.shutdown();
  await serving.stop();
});

test.each([
  ["of a handler", (value: object) => value],
  ["that its handler has written", writtenForm],
])("a large answer %s is the same for the caller", async (_, answerOf) => {
  await start();
  const value = {
    text: "é🙂\n".repeat(100_000),
    list: Array(2000).fill({ path: "ü.txt" }),
    more: false,
  };
  const handle = () => answerOf(value) as never;
  const serving = serveEcho(engine.url, lines, { functions: [{ ...echo, id: "test::large", handle }] });
  await serving.registered;
  const client = connect(engine.url, { name: "c", description: "" }, lines.log);
  expect(await client.trigger({ function_id: "test::large", payload: { value: 1 } })).toEqual(value);
  await client.shutdown();
  await serving.stop();
});

test("a written answer is parsed for whoever needs it, once", () => {
  let times = 0;
  const parse = (text: string) => inOneStep(() => ({ parsed: JSON.parse(text), times: ++times }));
  const answer = new WrittenAnswer('{"a":1}', 7, parse);
  expect(JSON.stringify({ answer })).toBe('{"answer":{"parsed":{"a":1},"times":1}}');
  expect(answer.answer).toEqual({ parsed: { a: 1 }, times: 1 });
});
