import { describe, expect, test } from "bun:test";
import { mkdirSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { TestEngine } from "../harness/engines/executable.ts";
import { startTestEngine } from "../harness/engines/started.ts";
import { parseWireError } from "../harness/errors.ts";
import { startCoder, subjects } from "../harness/subject.ts";
import { logFaults, withWorker } from "../harness/with-worker.ts";
import { temporaryFolder, waitForRegistration } from "../harness/worker-fixture.ts";

/** Resolves to the answer of a call that the engine makes, or to the code of its error. */
const codeOr = (call: Promise<unknown>): Promise<unknown> => call.catch(({ code }: { code: string }) => code);

const read = (engine: TestEngine, path: string) => engine.call("coder::read-file", { path });

describe.each(subjects)("%s", (subject) => {
  test("an engine that is gone for a while gets the worker back", async () => {
    await withWorker(subject, async (served) => {
      served.build({ "a.txt": "a\n" });
      const port = Number(new URL(served.engine.url).port);
      await served.engine.stop();
      const again = await startTestEngine(subject, { port });
      await waitForRegistration(again, served.worker);
      expect(await read(again, "a.txt")).toMatchObject({ content: "a\n" });
      await again.stop();
    });
  });

  test("an engine that is absent at the start costs one line", async () => {
    const probe = await startTestEngine(subject);
    const port = Number(new URL(probe.url).port);
    await probe.stop();
    const base = temporaryFolder();
    writeFileSync(join(base, "a.txt"), "a\n");
    const worker = startCoder(subject, ["--base-path", base, "--url", probe.url]);
    await worker.waitForStderr(/no engine answers/);
    const engine = await startTestEngine(subject, { port });
    await waitForRegistration(engine, worker);
    expect(await read(engine, "a.txt")).toMatchObject({ content: "a\n" });
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    expect(logFaults(worker.stdout(), worker.stderr())).toEqual([]);
    const warnings = worker
      .stderr()
      .split("\n")
      .filter((line) => line.includes('"warn"'));
    expect(warnings.map((line) => JSON.parse(line).message)).toEqual(["no engine answers"]);
    await engine.stop();
    rmSync(base, { recursive: true });
  });

  test("SIGTERM ends a worker that no engine has answered yet", async () => {
    const worker = startCoder(subject, ["--url", "ws://127.0.0.1:9"]);
    await worker.waitForStderr(/warn/);
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    expect(worker.stderr()).not.toContain("serving");
  });

  test.each([
    ["--url", { III_URL: "ws://127.0.0.1:9", III_ENGINE_URL: "ws://127.0.0.1:9" }, true],
    ["III_URL", { III_ENGINE_URL: "ws://127.0.0.1:9" }, false],
    ["III_ENGINE_URL", {}, false],
  ])("the engine's address comes from %s, whatever comes behind it says", async (from, others, asFlag) => {
    const engine = await startTestEngine(subject);
    const base = temporaryFolder();
    const args = ["--base-path", base, ...(asFlag ? ["--url", engine.url] : [])];
    const env = { ...others, ...(asFlag ? {} : { [from]: engine.url }) };
    const worker = startCoder(subject, args, { cwd: base, env });
    await waitForRegistration(engine, worker);
    worker.child.kill("SIGTERM");
    expect(await worker.exited).toBe(0);
    await engine.stop();
    rmSync(base, { recursive: true });
  });

  test("SIGTERM loses no answer of the calls in flight", async () => {
    await withWorker(subject, async (served) => {
      served.build({ "big.txt": "0123456789abcdef".repeat(1 << 18), "edit.txt": "a\n".repeat(1000) });
      let answered = 0;
      const send = (functionId: string, payload: unknown) =>
        codeOr(served.engine.call(functionId, payload)).finally(() => answered++);
      const edit = { files: [{ path: "edit.txt", ops: [{ op: "insert", at_line: 1, content: "x" }] }] };
      const calls = [
        ...Array.from({ length: 10 }, () => send("coder::read-file", { path: "big.txt" })),
        ...Array.from({ length: 20 }, () => send("coder::update-file", edit)),
        ...Array.from({ length: 10 }, () => send("coder::search", { query: "fedc", search_paths: false })),
      ];
      await Promise.race(calls);
      expect(answered).toBeLessThan(calls.length);
      served.worker.child.kill("SIGTERM");
      // A call that the worker had not read before the signal is refused. All others are answered.
      const answers = await Promise.all(calls);
      const refused = answers.filter((answer) => typeof answer === "string");
      expect(refused.filter((code) => code !== "function_not_found")).toEqual([]);
      expect(await served.worker.exited).toBe(0);
    });
  });

  test("the worker goes by the name that the supervisor gave it", async () => {
    await withWorker(
      subject,
      async (served) => {
        // The SDK sends its name last, so the name has arrived before an answer. This engine may process it
        // after the first call that follows, but not after the second.
        await served.call("coder::tree", {});
        const list = () => served.engine.call("engine::workers::list", {});
        await list();
        const { workers } = (await list()) as { workers: { name: string }[] };
        expect(workers.map((worker) => worker.name)).toContain("coder-two");
      },
      { env: { III_WORKER_NAME: "coder-two" } },
    );
  });

  test("the base folder is the one that was there at the start", async () => {
    await withWorker(subject, async (served) => {
      served.build({ "a.txt": "a\n" });
      rmSync(served.base, { recursive: true });
      mkdirSync(served.base);
      writeFileSync(join(served.base, "a.txt"), "another\n");
      const { error } = await served.call("coder::read-file", { path: "a.txt" });
      expect(parseWireError(error!)).toMatchObject({ code: "C216" });
    });
  });
});
