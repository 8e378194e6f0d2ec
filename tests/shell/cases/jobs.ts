import { expect } from "bun:test";
import { answerOf, expectPlain, ShellCases, waitFor, waitForJob } from "../case.ts";
import type { ClientOutcome, ShellFixture } from "../shell-fixture.ts";

const sleeping = { command: "sleep", args: ["5"] };

async function start(served: ShellFixture, payload: object): Promise<unknown> {
  return answerOf(await served.call("shell::exec_bg", payload))["job_id"];
}

const kill = (served: ShellFixture, id: unknown): Promise<ClientOutcome> =>
  served.call("shell::kill", { job_id: id });

const status = async (served: ShellFixture, id: unknown) =>
  answerOf(await served.call("shell::status", { job_id: id }))["job"] as Record<string, unknown>;

async function list(served: ShellFixture): Promise<Record<string, unknown>[]> {
  const { jobs, count } = answerOf(await served.call("shell::list", {}));
  expect(count).toBe((jobs as unknown[]).length);
  return jobs as Record<string, unknown>[];
}

const uuid = "[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}";

const usual = new ShellCases("shell::exec_bg")
  .script(58, "a job is started", async (served) => {
    const command = { command: "sh", args: ["-c", "sleep 0.1; echo done"] };
    const { job_id, argv } = answerOf(await served.call("shell::exec_bg", command));
    expect(job_id).toMatch(new RegExp(`^job-${uuid}$`));
    expect(argv).toEqual(["sh", "-c", "sleep 0.1; echo done"]);
    await waitForJob(served, job_id);
  })
  .script(59, "running, then finished", async (served) => {
    const id = await start(served, { command: "sh", args: ["-c", "sleep 0.3; echo done"] });
    expect(await status(served, id)).toMatchObject({ status: "running", stdout: "", finished_at_ms: null });
    expect(await waitForJob(served, id)).toMatchObject({
      status: "finished",
      exit_code: 0,
      stdout: "done\n",
    });
  })
  .script(60, "a program that fails", async (served) => {
    const id = await start(served, { command: "false" });
    expect(await waitForJob(served, id)).toMatchObject({ status: "failed", exit_code: 1 });
  })
  .script(61, "one string is split", async (served) => {
    const { job_id, argv } = answerOf(await served.call("shell::exec_bg", { command: "sleep 0.1" }));
    expect(argv).toEqual(["sleep", "0.1"]);
    await waitForJob(served, job_id);
  })
  .refusesPlainly(62, { command: ["sh"] }, "'command'", "string", "args")
  .refusesPlainly(62, { command: "echo", args: ["a", 5] }, "args[1]", "must be a string")
  .script(63, "unlisted or denylisted: no job", async (served) => {
    const before = await list(served);
    expectPlain(await served.call("shell::exec_bg", { command: "nmap" }), "not in allowlist");
    expectPlain(await served.call("shell::exec_bg", { command: "echo harness_denylist_marker" }), "denylist");
    expect((await list(served)).length).toBeLessThanOrEqual(before.length);
  })
  .script(65, "the third of two", async (served) => {
    const ids = [await start(served, sleeping), await start(served, sleeping)];
    expectPlain(await served.call("shell::exec_bg", sleeping), "max concurrent jobs", "2");
    for (const id of ids) await kill(served, id);
  })
  .script(66, "five at once", async (served) => {
    const outcomes = await Promise.all(
      Array.from({ length: 5 }, () => served.call("shell::exec_bg", sleeping)),
    );
    const refused = outcomes.filter(({ error }) => error !== undefined);
    expect(refused.length).toBeGreaterThanOrEqual(3);
    for (const outcome of refused) expectPlain(outcome, "max concurrent jobs");
    for (const { answer } of outcomes)
      if (answer !== undefined) await kill(served, (answer as { job_id: string }).job_id);
  })
  .script(68, "a job is killed", async (served) => {
    const id = await start(served, sleeping);
    expect(answerOf(await kill(served, id))).toEqual({ job_id: id, killed: true, status: "killed" });
  })
  .script(69, "the record of a killed job", async (served) => {
    const id = await start(served, sleeping);
    await kill(served, id);
    expect(await status(served, id)).toMatchObject({
      status: "killed",
      exit_code: null,
      finished_at_ms: expect.any(Number),
    });
  })
  .script(70, "killing twice", async (served) => {
    const id = await start(served, sleeping);
    await kill(served, id);
    expect(answerOf(await kill(served, id))).toMatchObject({ killed: false, reason: expect.any(String) });
  })
  .script(71, "killing what has finished", async (served) => {
    const id = await start(served, { command: "true" });
    await waitForJob(served, id);
    expect(answerOf(await kill(served, id))).toEqual({
      job_id: id,
      killed: false,
      status: "finished",
      reason: "not running",
    });
  })
  .script(72, "killing what never was", async (served) => {
    expectPlain(await kill(served, "job-nope"), "no such job: job-nope");
  })
  .script(73, "the status of what never was", async (served) => {
    expectPlain(await served.call("shell::status", { job_id: "job-nope" }), "no such job: job-nope");
    expectPlain(await served.call("shell::status", { job_id: "" }), "no such job");
  })
  .script(74, "a job_id that is no string", async (served) => {
    for (const id of ["shell::status", "shell::kill"]) {
      expectPlain(await served.call(id, { job_id: 42 }), "job_id", "string");
      expectPlain(await served.call(id, {}), "job_id", "missing");
      expectPlain(await served.call(id, "job"), "string");
    }
  })
  .script(75, "a list has the job", async (served) => {
    const id = await start(served, { command: "true" });
    expect((await list(served)).map((job) => job["id"])).toContain(id);
    for (const payload of [null, "anything", 7, [1]]) {
      expect(answerOf(await served.call("shell::list", payload))).toHaveProperty("jobs");
    }
    await waitForJob(served, id);
  })
  .script(76, "a list has no commands and no outputs", async (served) => {
    const id = await start(served, { command: "true" });
    const job = (await list(served)).find((each) => each["id"] === id) ?? {};
    expect(Object.keys(job).sort()).toEqual([
      "exit_code",
      "finished_at_ms",
      "id",
      "started_at_ms",
      "status",
      "stderr_truncated",
      "stdout_truncated",
    ]);
    await waitForJob(served, id);
  })
  .script(77, "a status has command and output", async (served) => {
    const id = await start(served, { command: "echo", args: ["out"] });
    expect(await waitForJob(served, id)).toMatchObject({ argv: ["echo", "out"], stdout: "out\n" });
  })
  .script(78, "a record is dropped after its time", async (served) => {
    const id = await start(served, { command: "true" });
    await waitForJob(served, id);
    await waitFor(async () => ((await list(served)).some((job) => job["id"] === id) ? undefined : true));
    expectPlain(await served.call("shell::status", { job_id: id }), "no such job");
  })
  .script(81, "lists while jobs come and go", async (served) => {
    const churn = (async () => {
      for (let round = 0; round < 5; round++)
        await waitForJob(served, await start(served, { command: "true" }));
    })();
    await Promise.all(Array.from({ length: 10 }, () => list(served)));
    await churn;
  })
  .script(83, "timeout_ms does not stop a job of the host", async (served) => {
    const id = await start(served, { command: "sleep", args: ["1"], timeout_ms: 100 });
    expect(await waitForJob(served, id)).toMatchObject({ status: "finished", exit_code: 0 });
  });

const openly = new ShellCases("shell::exec_bg", { allowlist: [] }).script(
  64,
  "a program that is not there",
  async (served) => {
    const outcome = await served.call("shell::exec_bg", { command: "_nope_" });
    expectPlain(outcome, /^spawn: /);
  },
);

const noSlots = new ShellCases("shell::exec_bg", { max_concurrent_jobs: 0 }).script(
  67,
  "no slots",
  async (served) => {
    expectPlain(await served.call("shell::exec_bg", { command: "true" }), "max concurrent jobs");
    expect(await list(served)).toEqual([]);
  },
);

const forgetful = new ShellCases("shell::exec_bg", { job_retention_secs: 0 }).script(
  79,
  "a running job is never dropped",
  async (served) => {
    const id = await start(served, sleeping);
    expect((await list(served)).map((job) => job["id"])).toEqual([id]);
    await kill(served, id);
  },
);

const patient = new ShellCases("shell::exec_bg", { job_retention_secs: 60, max_concurrent_jobs: 64 })
  .script(80, "a record is kept for its time", async (served) => {
    const id = await start(served, { command: "true" });
    await waitForJob(served, id);
    expect((await list(served)).map((job) => job["id"])).toContain(id);
  })
  .script(82, "fifty at once", async (served) => {
    const ids = await Promise.all(Array.from({ length: 50 }, () => start(served, { command: "true" })));
    const records = await Promise.all(ids.map((id) => waitForJob(served, id)));
    expect(records.map((record) => record["status"])).toEqual(ids.map(() => "finished"));
  });

export const cases = [usual, openly, noSlots, forgetful, patient].flatMap(({ all }) => all);
