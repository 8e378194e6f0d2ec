import { afterAll, afterEach, describe, expect, test } from "bun:test";
import { existsSync, mkdtempSync, readFileSync, realpathSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { type JobLimits, Jobs } from "./jobs.ts";
import { createPrograms } from "./programs.ts";
import type { JobRecord } from "./records.ts";
import { StartFailure } from "./start-failure.ts";

const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const programs = createPrograms(1);
const opened: Jobs[] = [];
afterEach(() => {
  for (const jobs of opened.splice(0)) jobs.close();
});
afterAll(async () => {
  await programs.stopAll();
  rmSync(folder, { recursive: true });
});

function openJobs(limits: Partial<JobLimits> = {}, now?: () => number): Jobs {
  const all = {
    maxRunning: 2,
    isPrivate: false,
    maxRunMs: 0,
    maxAgeMs: 3_600_000,
    maxCount: 100,
    maxBytes: 1 << 20,
  };
  const jobs = new Jobs({ ...all, ...limits }, now);
  opened.push(jobs);
  return jobs;
}

const spawnOptions = { environment: { PATH: "/usr/bin:/bin" }, folder, maxOutputBytes: 1024 };
const shell = realpathSync("/bin/sh");

function startShell(jobs: Jobs, script: string, owner?: string): Promise<string> {
  const argv = ["sh", "-c", script] as const;
  return jobs.startProgram({ argv, owner }, () => programs.start({ file: shell, argv }, spawnOptions));
}

/** Waits for the end of a job. Returns its record. */
async function ended(jobs: Jobs, id: string): Promise<JobRecord> {
  while (jobs.status(id, undefined).status === "running") await Bun.sleep(2);
  return jobs.status(id, undefined);
}

/** Resolves when a script has created the file. */
async function made(path: string): Promise<void> {
  while (!existsSync(path)) await Bun.sleep(2);
}

/** Resolves when a program of this process is gone. */
async function exited(pid: number): Promise<void> {
  try {
    for (;;) {
      process.kill(pid, 0);
      await Bun.sleep(2);
    }
  } catch {}
}

describe("a job that is a program", () => {
  test("shows nothing while it runs, and everything when it is over", async () => {
    const jobs = openJobs();
    const go = join(folder, "go");
    const script = `echo early; echo no >&2; while [ ! -e ${go} ]; do sleep 0.01; done; echo late`;
    const id = await startShell(jobs, script);
    expect(id).toMatch(/^job-[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[89ab][0-9a-f]{3}-[0-9a-f]{12}$/);
    const running = {
      id,
      argv: ["sh", "-c", script],
      started_at_ms: expect.any(Number),
      finished_at_ms: null,
      status: "running",
      exit_code: null,
      stdout: "",
      stderr: "",
      stdout_truncated: false,
      stderr_truncated: false,
    };
    expect<object>(jobs.status(id, undefined)).toEqual(running);
    Bun.spawnSync(["touch", go]);
    expect<object>(await ended(jobs, id)).toEqual({
      ...running,
      finished_at_ms: expect.any(Number),
      status: "finished",
      exit_code: 0,
      stdout: "early\nlate\n",
      stderr: "no\n",
    });
  });

  test.each([
    ["exit 1", { status: "failed", exit_code: 1 }],
    ["kill -TERM $$", { status: "failed", exit_code: null }],
    ["head -c 2000 /dev/zero", { status: "finished", exit_code: 0, stdout_truncated: true }],
    ["exec >&- 2>&-; sleep 0.05; exit 4", { status: "failed", exit_code: 4 }],
  ])("and does %s is recorded so", async (script, record) => {
    const jobs = openJobs();
    expect(await ended(jobs, await startShell(jobs, script))).toMatchObject(record);
  });

  test("goes on as long as a child holds its outputs", async () => {
    const jobs = openJobs();
    const id = await startShell(jobs, "{ sleep 0.05; echo late; } & exit 0");
    expect(await ended(jobs, id)).toMatchObject({ status: "finished", stdout: "late\n" });
  });

  test("that does not start leaves no job and no taken slot", async () => {
    const jobs = openJobs({ maxRunning: 1 });
    for (const _ of [1, 2]) {
      const missing = { file: "/nowhere/x", argv: ["x"] } as const;
      const start = () => programs.start(missing, spawnOptions);
      expect(
        await jobs.startProgram({ argv: ["x"], owner: undefined }, start).catch((error) => error),
      ).toEqual(new StartFailure("missing"));
    }
    expect(jobs.list(undefined)).toEqual({ jobs: [], count: 0 });
  });
});

describe("killing", () => {
  test("ends the whole group, keeps what it wrote, and happens once", async () => {
    let now = 1000;
    const jobs = openJobs({}, () => now);
    const ready = join(folder, "ready");
    const id = await startShell(jobs, `trap '' TERM; echo out; sleep 600 & touch ${ready}; wait`);
    await made(ready);
    now = 2000;
    const killing = jobs.kill(id, undefined);
    now = 3000;
    expect(await killing).toEqual({ job_id: id, killed: true, status: "killed" });
    expect(jobs.status(id, undefined)).toMatchObject({
      status: "killed",
      exit_code: null,
      stdout: "out\n",
      started_at_ms: 1000,
      finished_at_ms: 2000,
    });
    const again = { job_id: id, killed: false, status: "killed", reason: "not running" } as const;
    expect(await jobs.kill(id, undefined)).toEqual(again);
  });

  test("reaches a program that has closed its outputs", async () => {
    const jobs = openJobs();
    const path = join(folder, "closed");
    const id = await startShell(
      jobs,
      `exec >&- 2>&-; echo $$ > ${path}.tmp; mv ${path}.tmp ${path}; exec sleep 600`,
    );
    await made(path);
    expect(await jobs.kill(id, undefined)).toEqual({ job_id: id, killed: true, status: "killed" });
    expect(() => process.kill(Number(readFileSync(path, "utf8")), 0)).toThrow("ESRCH");
  });

  test("reaches what an exited program has left behind", async () => {
    const jobs = openJobs();
    const path = join(folder, "leader");
    const id = await startShell(jobs, `sleep 600 & echo $$ > ${path}.tmp; mv ${path}.tmp ${path}; exit 5`);
    await made(path);
    await exited(Number(readFileSync(path, "utf8")));
    expect(await jobs.kill(id, undefined)).toMatchObject({ killed: true });
    expect(jobs.status(id, undefined).status).toBe("killed");
  });

  test("frees the slot when nothing is left, not before", async () => {
    const jobs = openJobs({ maxRunning: 1 });
    const ready = join(folder, "deaf");
    const id = await startShell(jobs, `trap '' TERM; touch ${ready}; while :; do sleep 0.01; done`);
    await made(ready);
    const killing = jobs.kill(id, undefined);
    expect(jobs.status(id, undefined).status).toBe("killed");
    expect(startShell(jobs, "exit")).rejects.toThrow("max concurrent jobs");
    await killing;
    expect(await startShell(jobs, "exit")).toStartWith("job-");
  });

  test("a finished job changes nothing", async () => {
    const jobs = openJobs();
    const id = await startShell(jobs, "exit");
    const record = await ended(jobs, id);
    expect(await jobs.kill(id, undefined)).toEqual({
      job_id: id,
      killed: false,
      status: "finished",
      reason: "not running",
    });
    expect(jobs.status(id, undefined)).toEqual(record);
  });

  test.each(["job-nope", ""])("%j answers that there is none", (id) => {
    expect(openJobs().kill(id, undefined)).rejects.toThrow(`no such job: ${id};`);
    expect(() => openJobs().status(id, undefined)).toThrow(`no such job: ${id};`);
  });
});

describe("slots", () => {
  test("are taken before anything starts", async () => {
    const jobs = openJobs({ maxRunning: 2 });
    const path = join(folder, "started");
    const starts = [1, 2, 3, 4, 5].map((number) =>
      startShell(jobs, `echo ${number} >> ${path}; exec sleep 600`),
    );
    const outcomes = await Promise.allSettled(starts);
    expect(outcomes.map(({ status }) => status)).toEqual([
      "fulfilled",
      "fulfilled",
      "rejected",
      "rejected",
      "rejected",
    ]);
    expect(String(outcomes[4]?.status === "rejected" && outcomes[4].reason)).toContain(
      "max concurrent jobs is 2, and 2 are running",
    );
    const { jobs: listed } = jobs.list(undefined);
    expect(listed).toHaveLength(2);
    const lines = () => (existsSync(path) ? readFileSync(path, "utf8").split("\n") : []);
    while (lines().length < 3) await Bun.sleep(2);
    for (const { id } of listed) await jobs.kill(id, undefined);
    expect(lines().sort()).toEqual(["", "1", "2"]);
  });

  test("0 of them refuse everything", () => {
    const jobs = openJobs({ maxRunning: 0 });
    expect(startShell(jobs, "exit")).rejects.toThrow("max concurrent jobs is 0");
    const order = { argv: ["x"], owner: undefined } as const;
    expect(() => jobs.forward(order, () => new Promise(() => {}))).toThrow("max concurrent jobs is 0");
    expect(jobs.list(undefined).count).toBe(0);
  });
});

describe("a list", () => {
  test("leaves out commands and outputs, and counts", async () => {
    const jobs = openJobs();
    const id = await startShell(jobs, "echo secret");
    const { finished_at_ms, started_at_ms } = await ended(jobs, id);
    expect(jobs.list(undefined)).toEqual({
      jobs: [
        {
          id,
          started_at_ms,
          finished_at_ms,
          status: "finished",
          exit_code: 0,
          stdout_truncated: false,
          stderr_truncated: false,
        },
      ],
      count: 1,
    });
  });

  test("drops what is too old, and never what runs", async () => {
    let now = 0;
    const jobs = openJobs({ maxAgeMs: 1000 }, () => now);
    const over = await startShell(jobs, "exit");
    await ended(jobs, over);
    const running = await startShell(jobs, "exec sleep 600");
    now = 1001;
    expect(jobs.status(over, undefined).status).toBe("finished");
    expect(jobs.list(undefined).jobs.map(({ id }) => id)).toEqual([running]);
    expect(() => jobs.status(over, undefined)).toThrow("no such job");
    await jobs.kill(running, undefined);
  });

  test("is bounded in ended jobs", async () => {
    const jobs = openJobs({ maxCount: 2 });
    const ids: string[] = [];
    for (const _ of [1, 2, 3]) {
      const id = await startShell(jobs, "exit");
      await ended(jobs, id);
      ids.push(id);
    }
    expect(jobs.list(undefined).jobs.map(({ id }) => id)).toEqual(ids.slice(1));
  });
});

describe("private jobs", () => {
  test("do not exist for others", async () => {
    const jobs = openJobs({ isPrivate: true });
    const id = await startShell(jobs, "exec sleep 600", "ann");
    for (const other of ["bob", undefined]) {
      expect(jobs.list(other)).toEqual({ jobs: [], count: 0 });
      expect(() => jobs.status(id, other)).toThrow("no such job");
      expect(jobs.kill(id, other)).rejects.toThrow("no such job");
    }
    expect(jobs.status(id, "ann").status).toBe("running");
    expect(jobs.list("ann").count).toBe(1);
    expect((await jobs.kill(id, "ann")).killed).toBe(true);
  });
});
