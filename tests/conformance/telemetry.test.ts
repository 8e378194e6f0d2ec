/** Spans and metrics that the program sends to a collector (coder §21). */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { attributesOf, TestCollector } from "../harness/collector.ts";
import { defaultSubjects } from "../harness/subject.ts";
import { parentId, traceCallsOf, tracedCalls, traceId, traceparent } from "../harness/traced-calls.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectStdio } from "../mcp/client.ts";

let collector: TestCollector;
let env: Readonly<Record<string, string>>;

beforeEach(async () => {
  collector = new TestCollector();
  env = { OTEL_EXPORTER_OTLP_ENDPOINT: await collector.listen(), OTEL_BSP_SCHEDULE_DELAY: "10" };
});
afterEach(() => collector.close());

function expectTwoSpans(system: string): void {
  const spans = collector.spans.filter(({ name }) => name === "coder::read-file");
  for (const span of spans) expect(span).toMatchObject({ traceId, parentSpanId: parentId, events: [] });
  expect(spans.map(({ attributes }) => attributesOf(attributes))).toMatchObject([
    { "rpc.system.name": system, "coder.outcome": "ok" },
    { "rpc.system.name": system, "coder.outcome": "error", "error.type": "C211" },
  ]);
  const { histogram } = collector.metrics.get("rpc.server.call.duration") ?? {};
  expect(histogram?.dataPoints.reduce((sum, { count = 0 }) => sum + count, 0)).toBe(2);
  expect([...collector.metrics.keys()]).toContain("coder.journal.size");
  for (const word of ["needle", "a.txt", "none.txt"]) expect(collector.bodies.join()).not.toContain(word);
}

describe.each(defaultSubjects)("%s", (subject) => {
  test("a call over the bus has a span in its caller's trace, and a stop sends the rest", async () => {
    await withWorker(
      subject,
      async ({ build, client, call }) => {
        build({ "a.txt": "needle" });
        traceCallsOf(client);
        for (const [id, payload] of tracedCalls) await call(id, payload);
      },
      { env },
    );
    expectTwoSpans("iii");
    expect(collector.resource).toMatchObject({ "service.name": "coder" });
  });

  test("so has one over MCP, by the metadata of its request", async () => {
    await using fixture = await connectStdio(subject, { tree: { "a.txt": "needle" }, env });
    for (const [id, given] of tracedCalls)
      await fixture.client.callTool({
        name: id.replace("::", "_").replaceAll("-", "_"),
        arguments: given,
        _meta: { traceparent },
      });
    await fixture.client.close();
    await collector.until(
      () => collector.metrics.has("rpc.server.call.duration") && collector.spans.length > 1,
    );
    expectTwoSpans("mcp");
  });
});
