/** What only an engine in the process of the test can do to a worker. */
import { describe, expect, test } from "bun:test";
import { startEngine } from "../../src/engine/engine.ts";
import { deliveryTo } from "../harness/engines/started.ts";
import { subjects } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import { waitForRegistration } from "../harness/worker-fixture.ts";

describe.each(subjects)("%s", (subject) => {
  test("an engine that drops everything in mid-call gets the worker back", async () => {
    const { promise: delivered, resolve } = Promise.withResolvers<void>();
    let sent = 0;
    const engine = await startEngine({
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
});
