import { afterEach, beforeEach, expect, test } from "bun:test";
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { attributesOf, TestCollector } from "../../../tests/harness/collector.ts";
import { about } from "../../base/about.ts";
import { refuse } from "../../base/errors.ts";
import type { FunctionDefinition, Services } from "../../calls/contract/definition.ts";
import { createInvoke, type Invoke } from "../../calls/invoke.ts";
import { renderCoderError } from "../../coder/error-codes.ts";
import { echo, Lines } from "../../transports/bus/serve-bus.test-kit.ts";
import { openTelemetry, type Telemetry } from "./telemetry.ts";

let collector: TestCollector;
let url: string;
let lines: Lines;

beforeEach(async () => {
  lines = new Lines();
  collector = new TestCollector();
  url = await collector.listen();
});

afterEach(() => {
  collector.close();
  for (const api of [trace, metrics, propagation, context]) api.disable();
});

const open = (
  environment: NodeJS.ProcessEnv,
  system: "iii" | "mcp" = "iii",
): Promise<Telemetry | undefined> => openTelemetry({ environment, log: lines.log, worker: "coder", system });

const services: Services = { callMilliseconds: 25_000, renderError: renderCoderError };
const failing: FunctionDefinition = {
  ...echo,
  id: "test::fail",
  handle: () => {
    throw refuse.exists("secret.txt");
  },
};
const broken: FunctionDefinition = {
  ...echo,
  id: "test::break",
  handle: () => {
    throw new Error("a secret");
  },
};

/** Opens telemetry to the collector, and returns it with a function that makes calls. */
async function observed(
  environment: NodeJS.ProcessEnv = {},
): Promise<{ telemetry: Telemetry; invoke: Invoke }> {
  const telemetry = (await open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment })) as Telemetry;
  telemetry.measure({ holds: { "coder.index.files": 3, "coder.journal.size": 70 } });
  return { telemetry, invoke: telemetry.observe(createInvoke(services, lines.log)) };
}

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traced = { trace: { traceparent: `00-${traceId}-${parentId}-01`, baggage: "k=v" } };

test("there is none unless it is asked for, and where nothing could take it", async () => {
  expect(await open({})).toBeUndefined();
  expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: "" })).toBeUndefined();
  expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_SDK_DISABLED: "true" })).toBeUndefined();
  expect(await open({ OTEL_ENABLED: "false" })).toBeUndefined();
  expect(await open({ OTEL_ENABLED: "true" }, "mcp")).toBeUndefined();
  expect(collector.bodies).toEqual([]);
});

test.each([
  ["OTEL_TRACES_SAMPLER", "foo", /"foo"; it takes one of always_on, /],
  ["OTEL_METRIC_EXPORT_INTERVAL", "abc", /"abc"; it takes a number above 0/],
  ["OTEL_BSP_SCHEDULE_DELAY", "soon", /"soon"; it takes a number above 0/],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret,tenant", /is not a list of pairs/],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api key=secret", /is not a list of pairs/],
  ["OTEL_EXPORTER_OTLP_HEADERS", "api-key=secret%", /is not a list of pairs/],
  ["OTEL_RESOURCE_ATTRIBUTES", "secret", /is not a list of pairs/],
])("%s=%s is said to be invalid, without a secret", async (name, value, reason) => {
  expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, [name]: value })).toBeUndefined();
  const said = lines.all.map(({ level, message, reason: why }) => `${level} ${message}: ${why}`);
  expect(said).toHaveLength(1);
  expect(said[0]).toMatch(reason);
  expect(said[0]).toStartWith(`warn no telemetry: ${name} is `);
  expect(said[0]).not.toContain("secret");
});

test("the sampler's share is checked", async () => {
  const sampler = { OTEL_EXPORTER_OTLP_ENDPOINT: url, OTEL_TRACES_SAMPLER: "traceidratio" };
  expect(await open({ ...sampler, OTEL_TRACES_SAMPLER_ARG: "2" })).toBeUndefined();
  await (await open({ ...sampler, OTEL_TRACES_SAMPLER_ARG: "0.5" }))!.close();
});

test("over MCP it says that no engine takes telemetry", async () => {
  await open({ OTEL_ENABLED: "true" }, "mcp");
  expect(lines.all).toMatchObject([{ message: "no telemetry", reason: expect.stringContaining("MCP") }]);
});

test("a call is one span in the trace of its caller, with function, outcome and bytes and nothing else", async () => {
  const { telemetry, invoke } = await observed({
    OTEL_SERVICE_NAME: "mine",
    OTEL_EXPORTER_OTLP_HEADERS: "api-key=a%20b",
  });
  const outcome = await invoke(echo, { value: "a secret" }, traced);
  await telemetry.close();
  const [span, ...others] = collector.spans;
  expect(others).toEqual([]);
  expect(span).toMatchObject({ name: "test::echo", traceId, parentSpanId: parentId, kind: 2, events: [] });
  expect(attributesOf(span!.attributes)).toEqual({
    "rpc.system.name": "iii",
    "rpc.method": "test::echo",
    "coder.outcome": "ok",
    "coder.answer.size": "bytes" in outcome ? outcome.bytes : undefined,
  });
  expect(collector.resource).toMatchObject({ "service.name": "mine", "service.version": about.version });
  expect(collector.headers[0]).toMatchObject({ "api-key": "a b" });
  expect(collector.bodies.join()).not.toContain("secret");
});

test("an error is its code, without the message", async () => {
  const { telemetry, invoke } = await observed();
  await invoke(failing, { value: 1 });
  await invoke(broken, { value: 1 });
  await telemetry.close();
  expect(collector.spans.map(({ attributes }) => attributesOf(attributes))).toMatchObject([
    { "coder.outcome": "error", "error.type": "C217" },
    { "coder.outcome": "error", "error.type": "C216" },
  ]);
  expect(collector.spans.map(({ status, events }) => ({ status, events }))).toEqual([
    { status: { code: 2 }, events: [] },
    { status: { code: 2 }, events: [] },
  ]);
  expect(collector.bodies.join()).not.toContain("secret");
});

test("a call without a trace, or with none that can be read, begins one", async () => {
  const { telemetry, invoke } = await observed();
  for (const trace of [
    undefined,
    {},
    { traceparent: "nonsense" },
    { traceparent: `00-${traceId}-${parentId}` },
  ])
    await invoke(echo, { value: 1 }, { trace });
  await telemetry.close();
  expect(new Set(collector.spans.map(({ traceId: id }) => id)).size).toBe(4);
  expect(collector.spans.filter(({ parentSpanId }) => parentSpanId !== undefined)).toEqual([]);
});

test("baggage is read, unless it is longer than any has to be", async () => {
  const { telemetry, invoke } = await observed();
  const seen: unknown[] = [];
  const reading = { ...echo, handle: () => seen.push(propagation.getActiveBaggage()?.getEntry("k")?.value) };
  for (const count of [1, 3000])
    await invoke(reading, { value: 1 }, { trace: { ...traced.trace, baggage: "k=v,".repeat(count) } });
  await telemetry.close();
  expect(seen).toEqual(["v", undefined]);
  expect(collector.spans.map(({ traceId: id }) => id)).toEqual([traceId, traceId]);
});

test("a trace that its caller does not sample has no span", async () => {
  const { telemetry, invoke } = await observed();
  await invoke(echo, { value: 1 }, { trace: { traceparent: `00-${traceId}-${parentId}-00` } });
  await telemetry.close();
  expect(collector.spans).toEqual([]);
});

test("metrics count calls, errors by code, time and bytes, and what the worker holds", async () => {
  const { telemetry, invoke } = await observed();
  for (const definition of [echo, echo, failing]) await invoke(definition, { value: "a secret" });
  await telemetry.close();
  const points = (name: string) => collector.metrics.get(name)?.histogram?.dataPoints ?? [];
  const counted = points("rpc.server.call.duration").map(({ attributes, count }) => [
    attributesOf(attributes),
    count,
  ]);
  expect(counted).toEqual([
    [{ "rpc.system.name": "iii", "rpc.method": "test::echo" }, 2],
    [{ "rpc.system.name": "iii", "rpc.method": "test::fail", "error.type": "C217" }, 1],
  ]);
  expect(points("coder.answer.size").map(({ sum }) => sum)).toEqual([2 * 20, expect.any(Number)]);
  const gauges = [...collector.metrics.values()].flatMap(({ name, unit, gauge }) =>
    (gauge?.dataPoints ?? []).map(({ asInt, asDouble }) => [name, unit, asInt ?? asDouble]),
  );
  expect(gauges).toContainEqual(["coder.index.files", "1", 3]);
  expect(gauges).toContainEqual(["coder.journal.size", "By", 70]);
  expect(gauges.map(([name]) => name)).toContain("process.memory.size");
  if (process.platform === "linux")
    expect(gauges.map(([name]) => name)).toContain("process.unix.file_descriptor.count");
  expect(collector.bodies.join()).not.toContain("secret");
});

test("metrics come at the interval that is asked for", async () => {
  const { telemetry, invoke } = await observed({ OTEL_METRIC_EXPORT_INTERVAL: "10" });
  await invoke(echo, { value: 1 });
  await collector.until(() => collector.metrics.has("rpc.server.call.duration"));
  await telemetry.close();
});

test("a collector that takes nothing is said once, and holds nothing up", async () => {
  const { telemetry, invoke } = await observed({ OTEL_METRIC_EXPORT_INTERVAL: "10" });
  collector.status = 503;
  expect(await invoke(echo, { value: 1 })).toMatchObject({ answer: { value: 1 } });
  await collector.until(() => collector.bodies.length > 5);
  await telemetry.close();
  const said = lines.all.filter(({ message }) => message === "the collector takes no telemetry");
  expect(said.map(({ reason }) => reason)).toContain("HTTP status 503");
  // At most one line for the spans, and one for the metrics.
  expect(said.length).toBeLessThanOrEqual(2);
  expect(new Set(said.map(({ signal }) => signal)).size).toBe(said.length);
});

test("a stop does not wait for a collector that does not answer", async () => {
  const { telemetry, invoke } = await observed();
  collector.status = undefined;
  await invoke(echo, { value: 1 });
  await telemetry.close();
  expect(collector.unanswered).toBe(2);
});

test("what cannot be had is said, and the worker goes on without", async () => {
  const wrong: [NodeJS.ProcessEnv, string][] = [
    [{ OTEL_EXPORTER_OTLP_PROTOCOL: "grpc" }, 'OTEL_EXPORTER_OTLP_PROTOCOL is "grpc"; it takes http/json.'],
    [{ OTEL_EXPORTER_OTLP_ENDPOINT: "collector:4317" }, "OTEL_EXPORTER_OTLP_ENDPOINT is no address"],
  ];
  for (const [environment, reason] of wrong) {
    const from = lines.all.length;
    expect(await open({ OTEL_EXPORTER_OTLP_ENDPOINT: url, ...environment })).toBeUndefined();
    expect(await lines.next(/no telemetry/, from)).toMatchObject({
      level: "warn",
      reason: expect.stringContaining(reason),
    });
  }
});

test("a collector may get only one of the two", async () => {
  const { telemetry, invoke } = await observed({
    OTEL_EXPORTER_OTLP_ENDPOINT: "",
    OTEL_EXPORTER_OTLP_TRACES_ENDPOINT: `${url}/somewhere`,
  });
  await invoke(echo, { value: 1 });
  await telemetry.close();
  expect([collector.spans.length, collector.metrics.size]).toEqual([1, 0]);
});
