/** Tests of the bus that need the engine in the process of the test. */
import { describe, expect, test } from "bun:test";
import { startProduction } from "../harness/engines/production-router.ts";
import { deliveryTo } from "../harness/engines/started.ts";
import { subjects } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectClient, waitForRegistration } from "../harness/worker-fixture.ts";

describe.each(subjects)("%s", (subject) => {
  test("an engine that drops everything in mid-call gets the worker back", async () => {
    const { promise: delivered, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    const engine = await startProduction({
      delivery: deliveryTo(subject),
      onFrame({ direction, text }) {
        if (direction === "sent" && text.includes('"function_id":"coder::read-file"') && ++sent === 50)
          resolve();
      },
    });
    await withWorker(
      subject,
      async (served) => {
        served.build({ "a.txt": "a\n", "b.txt": "x".repeat(1 << 20) });
        const read = (path: string) => engine.call("coder::read-file", { path });
        const calls = Array.from({ length: 50 }, () => read("b.txt").catch(({ code }) => code));
        await delivered;
        engine.dropConnections();
        expect(new Set(await Promise.all(calls))).toEqual(new Set(["invocation_stopped"]));
        await waitForRegistration(engine, served.worker);
        expect(await read("a.txt")).toMatchObject({ content: "a\n" });
      },
      { engine },
    );
  });

  test("a trigger goes on after all connections were cut, each change once", async () => {
    const engine = await startProduction({ delivery: deliveryTo(subject) });
    await withWorker(
      subject,
      async (served) => {
        served.build({});
        const events: string[] = [];
        const { promise: isLast, resolve } = Promise.withResolvers<void>();
        const client = connectClient(engine.url);
        client.registerFunction("receiver::changed", async ({ kind, path, overflow }) => {
          events.push(`${kind} ${path}${overflow ? " overflow" : ""}`);
          if (path === "last") resolve();
        });
        const create = (path: string) =>
          engine.call("coder::create-file", { files: [{ path, content: "" }] });
        const { next: since } = (await engine.call("coder::changes", {})) as { next: string };
        client.registerTrigger({
          type: "coder::changed",
          function_id: "receiver::changed",
          config: { since, coalesce_ms: 50 },
        });
        await create("a");
        // Gives the worker time to get the answer for the first event. Nothing reports its arrival.
        for (let calls = 0; calls < 3; calls += events.length)
          await client.trigger({ function_id: "coder::changes", payload: {} });
        engine.dropConnections();
        await waitForRegistration(engine, served.worker);
        await create("b");
        await create("last");
        await isLast;
        expect(events.filter((event) => !event.endsWith("overflow"))).toEqual([
          "created a",
          "created b",
          "created last",
        ]);
        await client.shutdown();
      },
      { engine },
    );
  });
});
