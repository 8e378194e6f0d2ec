/** Tests telemetry that goes to the engine, over both sockets of the SDK. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { once } from "node:events";
import type { AddressInfo } from "node:net";
import { context, metrics, propagation, trace } from "@opentelemetry/api";
import { type WebSocket, WebSocketServer } from "ws";
import { attributesOf, TestCollector } from "../../../tests/harness/collector.ts";
import { refuse } from "../../base/errors.ts";
import type { FunctionDefinition, Services } from "../../calls/contract/definition.ts";
import { createInvoke } from "../../calls/invoke.ts";
import { renderCoderError } from "../../coder/error-codes.ts";
import { echo, Lines } from "../../transports/bus/serve-bus.test-kit.ts";
import { serve } from "../../transports/bus/serve-bus.ts";
import { openTelemetry } from "./telemetry.ts";

type Frame = Readonly<Record<string, unknown>>;

/** An engine that registers each worker, and keeps everything it receives. */
class StandIn {
  readonly collector = new TestCollector();
  readonly frames: Frame[] = [];
  readonly #server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
  #worker: WebSocket | undefined;
  #wake: () => void = () => {};

  constructor() {
    this.#server.on("connection", (socket, { url }) => {
      if (url?.endsWith("/otel")) socket.on("message", (data: Buffer) => this.#takeTelemetry(data));
      else this.#attach(socket);
    });
  }

  async url(): Promise<string> {
    if (this.#server.address() === null) await once(this.#server, "listening");
    return `ws://127.0.0.1:${(this.#server.address() as AddressInfo).port}`;
  }

  /** Calls a function of the worker. Resolves to its answer. */
  async call(function_id: string, data: object, traceparent?: string): Promise<Frame> {
    await this.#frame(({ type, id }) => type === "registerfunction" && id === function_id);
    const invocation_id = crypto.randomUUID();
    this.#worker?.send(
      JSON.stringify({ type: "invokefunction", invocation_id, function_id, data, traceparent }),
    );
    return this.#frame(
      (frame) => frame["type"] === "invocationresult" && frame["invocation_id"] === invocation_id,
    );
  }

  close(): void {
    for (const socket of this.#server.clients) socket.terminate();
    this.#server.close();
  }

  #attach(socket: WebSocket): void {
    this.#worker = socket;
    socket.send(JSON.stringify({ type: "workerregistered", worker_id: "w", reattach_token: "t" }));
    socket.on("message", (data: Buffer) => {
      const frame: Frame = JSON.parse(data.toString());
      this.frames.push(frame);
      const { type, function_id, invocation_id } = frame;
      if (type === "invokefunction" && function_id === "other::f")
        socket.send(JSON.stringify({ type: "invocationresult", invocation_id, function_id, result: {} }));
      setImmediate(() => this.#wake());
    });
  }

  #takeTelemetry(data: Buffer): void {
    this.collector.take(data.subarray(4).toString());
  }

  async #frame(check: (frame: Frame) => boolean): Promise<Frame> {
    for (;;) {
      const found = this.frames.find(check);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

let engine: StandIn;
const lines = new Lines();

beforeEach(() => {
  engine = new StandIn();
});

afterEach(() => {
  engine.close();
  for (const api of [trace, metrics, propagation, context]) api.disable();
});

const failing: FunctionDefinition = {
  ...echo,
  id: "test::fail",
  handle: () => {
    throw refuse.exists("secret.txt");
  },
};
const forwarding: FunctionDefinition = {
  ...echo,
  id: "test::forward",
  handle: (_, { bus }) => bus?.call("other::f", {}, 1000),
};

const traceId = "0af7651916cd43dd8448eb211c80319c";
const parentId = "b7ad6b7169203331";
const traceparent = `00-${traceId}-${parentId}-01`;

/** Runs `use` with a worker in this environment, and then stops it. */
async function withWorker(environment: NodeJS.ProcessEnv, use: () => Promise<void>): Promise<void> {
  const telemetry = await openTelemetry({ environment, log: lines.log, worker: "tester", system: "iii" });
  const services: Services = { callMilliseconds: 25_000, renderError: renderCoderError };
  const invoke = createInvoke(services, lines.log);
  const serving = serve({
    url: await engine.url(),
    identity: { name: "tester", description: "" },
    functions: [echo, failing, forwarding],
    invoke: telemetry?.observe(invoke) ?? invoke,
    log: lines.log,
    telemetry: telemetry?.engine,
  });
  telemetry?.measure({});
  await use();
  await serving.stop();
  await telemetry?.close();
}

test("the engine gets one span a call and the metrics, and nothing that a payload or an error says", async () => {
  const { collector } = engine;
  await withWorker({ OTEL_ENABLED: "true", OTEL_METRIC_EXPORT_INTERVAL: "20" }, async () => {
    await engine.call("test::echo", { value: "a secret" }, traceparent);
    await engine.call("test::fail", { value: "a secret" }, traceparent);
    await collector.until(
      () => collector.spans.length > 1 && collector.metrics.has("rpc.server.call.duration"),
    );
  });
  expect(collector.spans.map(({ name }) => name)).toEqual(["test::echo", "test::fail"]);
  for (const span of collector.spans)
    expect(span).toMatchObject({ traceId, parentSpanId: parentId, events: [] });
  expect(attributesOf(collector.spans[1]!.attributes)).toMatchObject({ "error.type": "C217" });
  expect(collector.resource).toMatchObject({ "service.name": "tester" });
  expect(collector.bodies.join()).not.toContain("secret");
});

test("what a call calls belongs to its trace", async () => {
  const { collector } = engine;
  await withWorker({ OTEL_ENABLED: "true" }, async () => {
    await engine.call("test::forward", { value: 1 }, traceparent);
    await collector.until(() => collector.spans.length > 0);
  });
  const forwarded = engine.frames.find(({ function_id: id }) => id === "other::f");
  expect(forwarded?.["traceparent"]).toBe(`00-${traceId}-${collector.spans[0]?.spanId}-01`);
});

test("without it the engine gets none, and the caller its trace back", async () => {
  await withWorker({}, async () => {
    expect(await engine.call("test::echo", { value: 1 }, traceparent)).toMatchObject({ traceparent });
    await engine.call("test::forward", { value: 1 }, traceparent);
  });
  expect(engine.frames.find(({ function_id: id }) => id === "other::f")).not.toHaveProperty("traceparent");
  expect(engine.collector.bodies).toEqual([]);
});

test("no line of the log has the password of the engine's address", async () => {
  const url = new URL(await engine.url());
  const from = lines.all.length;
  const telemetry = await openTelemetry({
    environment: { OTEL_ENABLED: "true" },
    log: lines.log,
    worker: "tester",
    system: "iii",
  });
  const serving = serve({
    url: `ws://user:a-secret@${url.host}/`,
    identity: { name: "tester", description: "" },
    functions: [echo],
    invoke: createInvoke({ callMilliseconds: 25_000, renderError: renderCoderError }, lines.log),
    log: lines.log,
    telemetry: telemetry?.engine,
  });
  await engine.call("test::echo", { value: 1 });
  await serving.stop();
  expect(lines.all.slice(from).map(({ message }) => message)).toContain("[OTel] Traces initialized");
  expect(JSON.stringify(lines.all.slice(from))).not.toContain("a-secret");
});
