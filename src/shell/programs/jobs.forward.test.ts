import { afterEach, describe, expect, test } from "bun:test";
import { type ForwardedResult, Jobs } from "./jobs.ts";
import type { JobRecord } from "./records.ts";

const opened: Jobs[] = [];
afterEach(() => {
  for (const jobs of opened.splice(0)) jobs.close();
});

function openJobs(now?: () => number): Jobs {
  const limits = {
    maxRunning: 1,
    isPrivate: false,
    maxRunMs: 0,
    maxAgeMs: 3_600_000,
    maxCount: 100,
    maxBytes: 1 << 20,
  };
  const jobs = new Jobs(limits, now);
  opened.push(jobs);
  return jobs;
}

/** Waits for the end of a job. Returns its record. */
async function ended(jobs: Jobs, id: string): Promise<JobRecord> {
  while (jobs.status(id, undefined).status === "running") await Bun.sleep(0);
  return jobs.status(id, undefined);
}

describe("a forwarded job", () => {
  const order = { argv: ["make"], owner: undefined } as const;
  const result = { stdout: "out", stderr: "err", exit_code: 0, timed_out: false };

  test.each([
    [{}, { status: "finished", exit_code: 0, stdout: "out", stderr: "err" }],
    [{ exit_code: 2 }, { status: "failed", exit_code: 2 }],
    [{ exit_code: null }, { status: "failed", exit_code: null }],
    [{ timed_out: true }, { status: "killed", exit_code: 0, finished_at_ms: expect.any(Number) }],
  ])("with the answer %j is recorded so", async (answer, record) => {
    const jobs = openJobs();
    const id = jobs.forward(order, async () => ({ ...result, ...answer }));
    expect(jobs.status(id, undefined).status).toBe("running");
    expect(await ended(jobs, id)).toMatchObject(record);
  });

  test.each([
    ["an error", () => Promise.reject(new Error("S300: no"))],
    ["a text", () => Promise.reject("S300: no")],
    [
      "an exception",
      () => {
        throw new Error("S300: no");
      },
    ],
  ])("that ends in %s has failed, and says why", async (_, forward) => {
    const jobs = openJobs();
    expect(await ended(jobs, jobs.forward(order, forward))).toMatchObject({
      status: "failed",
      exit_code: null,
      stdout: "",
      stderr: "S300: no",
    });
  });

  test("that was killed keeps its status, its time and its slot, and gets its late result", async () => {
    let now = 1000;
    const jobs = openJobs(() => now);
    let answer: (result: ForwardedResult) => void = () => {};
    const id = jobs.forward(order, () => new Promise((resolve) => (answer = resolve)));
    const killed = await jobs.kill(id, undefined);
    expect(killed).toMatchObject({ job_id: id, killed: true, status: "killed" });
    expect(killed.reason).toMatch(/sandbox::exec.*timeout_ms/);
    expect(() => jobs.forward(order, async () => result)).toThrow("max concurrent jobs");
    now = 2000;
    answer(result);
    while (jobs.status(id, undefined).stdout === "") await Bun.sleep(0);
    expect(jobs.status(id, undefined)).toMatchObject({
      status: "killed",
      finished_at_ms: 1000,
      exit_code: 0,
    });
    expect(jobs.forward(order, async () => result)).toStartWith("job-");
  });
});
