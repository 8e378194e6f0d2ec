/** The trigger type of the shell worker, used through the official SDK (shell §15). */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import type { IIIClient } from "iii-sdk";
import { defaultSubjects } from "../harness/subject.ts";
import { answerOf, waitForJob } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

interface Event {
  readonly job_id: string;
  readonly status: string;
}

/** A function on the bus that receives the events of a trigger. */
class Receiver {
  readonly events: Event[] = [];
  readonly #client: IIIClient;
  readonly #id: string;
  #wake: () => void = () => {};

  constructor(client: IIIClient, id: string) {
    this.#client = client;
    this.#id = id;
    client.registerFunction(id, async (event: Event) => {
      this.events.push(event);
      setImmediate(this.#wake);
    });
  }

  bind(config: object): { unregister(): void } {
    return this.#client.registerTrigger({ type: "shell::job-finished", function_id: this.#id, config });
  }

  /** Waits for the event of a job. */
  async event(id: string): Promise<Event> {
    for (;;) {
      const found = this.events.find(({ job_id }) => job_id === id);
      if (found !== undefined) return found;
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    }
  }
}

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  let client: IIIClient;
  beforeAll(async () => {
    served = await startShell(subject, { job_retention_secs: 600 });
    client = served.connect();
  });
  afterAll(async () => {
    await client.shutdown();
    await served.stop();
  });

  const start = async (script: string, more: object = {}) => {
    const command = { command: "sh", args: ["-c", script], ...more };
    return answerOf(await served.call("shell::exec_bg", command))["job_id"] as string;
  };

  test("a trigger that was there before its job gets its end, once", async () => {
    const receiver = new Receiver(client, "receiver::before");
    receiver.bind({ job_id: "chosen" });
    // After another call on the same connection, the engine has sent the trigger.
    await client.trigger({ function_id: "shell::list", payload: {} });
    expect(await start("exit 3", { job_id: "chosen" })).toBe("chosen");
    const { started_at_ms, finished_at_ms } = await waitForJob(served, "chosen");
    expect((await receiver.event("chosen")) as object).toEqual({
      job_id: "chosen",
      argv: ["sh", "-c", "exit 3"],
      status: "failed",
      exit_code: 3,
      started_at_ms,
      finished_at_ms,
      duration_ms: Number(finished_at_ms) - Number(started_at_ms),
      _caller_worker_id: expect.any(String),
    });
    const other = await start("exit 0");
    await waitForJob(served, other);
    expect(receiver.events).toHaveLength(1);
  });

  test("a trigger for a job that has ended gets its end at once", async () => {
    const id = await start("kill -SEGV $$");
    await waitForJob(served, id);
    const receiver = new Receiver(client, "receiver::after");
    receiver.bind({ job_id: id });
    expect(await receiver.event(id)).toMatchObject({ status: "failed", exit_code: null, signal: "SIGSEGV" });
  });

  test("a trigger without a job gets the end of each from then on, and of those that are killed", async () => {
    const receiver = new Receiver(client, "receiver::all");
    const trigger = receiver.bind({});
    await client.trigger({ function_id: "shell::list", payload: {} });
    const first = await start("exit 0");
    expect(await receiver.event(first)).toMatchObject({ status: "finished", exit_code: 0 });
    const second = await start("exec sleep 1000");
    await served.call("shell::kill", { job_id: second });
    expect(await receiver.event(second)).toMatchObject({ status: "killed", exit_code: null });
    expect(receiver.events.map(({ job_id }) => job_id)).toEqual([first, second]);
    trigger.unregister();
  });

  test("a job whose id is taken, or is no line, is refused in prose, and not started", async () => {
    const command = { command: "sh", args: ["-c", "exit 0"] };
    await start("exit 0", { job_id: "taken" });
    const again = await served.call("shell::exec_bg", { ...command, job_id: "taken" });
    expect(String(again.error)).toContain("a job with the id taken already exists");
    for (const job_id of ["", " ", "a\nb", "x".repeat(101)]) {
      const outcome = await served.call("shell::exec_bg", { ...command, job_id });
      expect(String(outcome.error), JSON.stringify(job_id)).toContain("send 1 to 100 characters");
    }
    const own = await start("exit 0", { job_id: null });
    expect(own).toMatch(/^job-[0-9a-f-]{36}$/);
    // At most two jobs run at once, and the next test starts one.
    for (const id of ["taken", own]) await waitForJob(served, id);
  });

  test("the fields of status work on the bus, and its answer without them is as before", async () => {
    const id = await start("echo one; echo two >&2");
    await waitForJob(served, id);
    const plain = answerOf(await served.call("shell::status", { job_id: id }));
    expect(Object.keys(plain)).toEqual(["job"]);
    const { output } = answerOf(await served.call("shell::status", { job_id: id, grep: "two" }));
    expect(output).toMatchObject({ text: expect.stringContaining("→two\n"), matches: 1, end: 3 });
    const started = answerOf(
      await served.call("shell::exec_bg", { command: "sh", args: ["-c", "echo up"], start_ms: 20_000 }),
    );
    expect(started).toMatchObject({ job: { status: "finished" }, output: { text: "up\n" } });
  });
});
