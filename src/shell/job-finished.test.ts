import { afterAll, describe, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { jobFinishedOver } from "./job-finished.ts";
import { Jobs } from "./programs/jobs.ts";

const jobs = new Jobs({
  maxRunning: 100,
  isPrivate: false,
  maxRunMs: 0,
  maxAgeMs: 3_600_000,
  maxCount: 100,
  maxBytes: 1 << 20,
  hasShortIds: true,
});
afterAll(() => jobs.close());
const trigger = jobFinishedOver(jobs, false);

/** Returns a function that receives events. `outcomes` are those of its first calls. */
function receiver(...outcomes: ("delivered" | "absent" | "unknown")[]) {
  const ids: string[] = [];
  const fire = async (event: object) => {
    ids.push((event as { readonly job_id: string }).job_id);
    return outcomes.shift() ?? "delivered";
  };
  return { ids, fire };
}

/** Runs a job to its end, and returns its id. */
async function run(): Promise<string> {
  const result = { stdout: "", stderr: "", exit_code: 0, timed_out: false };
  const id = jobs.forward({ argv: ["true"], owner: undefined }, async () => result);
  await jobs.follow(id, undefined).settled;
  return id;
}

describe("a trigger", () => {
  test("for one job has one event, also when it is registered again", async () => {
    const { ids, fire } = receiver();
    const end = await trigger.open({ job_id: "job-1" }, fire);
    expect(await run()).toBe("job-1");
    await run();
    expect(ids).toEqual(["job-1"]);
    const place = end();
    (await trigger.open({ job_id: "job-1" }, fire, place))();
    expect(ids).toEqual(["job-1"]);
    (await trigger.open({ job_id: "job-1" }, fire))();
    expect(ids).toEqual(["job-1", "job-1"]);
  });

  test("for all jobs has those since it ended, when it is registered again", async () => {
    const { ids, fire } = receiver("unknown");
    const end = await trigger.open({}, fire);
    const first = await run();
    await setImmediate();
    const place = end();
    const second = await run();
    expect(ids).toEqual([first]);
    const endAgain = await trigger.open({ job_id: null }, fire, place);
    const third = await run();
    await setImmediate();
    expect(ids).toEqual([first, second, third]);
    endAgain();
  });

  test("is refused for a job_id that is none, and without one where jobs are private", async () => {
    const { fire } = receiver();
    await expect(trigger.open({ job_id: 5 }, fire)).rejects.toThrow("job_id");
    await expect(trigger.open({ job_id: "" }, fire)).rejects.toThrow("job_id");
    await expect(jobFinishedOver(jobs, true).open({}, fire)).rejects.toThrow(
      "with private_jobs a trigger names its job",
    );
    (await jobFinishedOver(jobs, true).open({ job_id: "none" }, fire))();
  });
});
