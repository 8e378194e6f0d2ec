/** Processes during and after their calls: weaknesses of the original that this worker does not have. */
import { afterEach, describe, expect, test } from "bun:test";
import { chmodSync, existsSync, readFileSync, renameSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { isAlive, readPid, waitForExit } from "./alive.ts";
import { answerOf, expectPlain, waitFor, waitForJob } from "./case.ts";
import { type ConfigFields, type ShellFixture, type ShellOptions, startShell } from "./shell-fixture.ts";

let served: ShellFixture;
afterEach(() => served.stop());

const sh = (script: string, more: object = {}) => ({ command: "sh", args: ["-c", script], ...more });

/** The timeout of callers. On a busy machine, a gibibyte takes a while. */
const floodMilliseconds = 30_000;

/** Returns the peak memory of a worker. */
const peakKibibytes = ({ child }: ShellFixture["worker"]): number =>
  Number(/VmHWM:\s+(\d+)/.exec(readFileSync(`/proc/${child.pid}/status`, "utf8"))?.[1]);

describe.each(defaultSubjects)("%s", (subject) => {
  const open = async (config: ConfigFields = {}, around: ShellOptions = {}) => {
    served = await startShell(subject, config, around);
    return served;
  };

  test("a program in the folder that calls can write in is never run", async () => {
    const { folder, call } = await open({ fs: { host_root: "<folder>" } });
    writeFileSync(join(folder, "ls"), "#!/bin/sh\necho mine\n");
    chmodSync(join(folder, "ls"), 0o755);
    expectPlain(await call("shell::exec", { command: join(folder, "ls") }), "not in allowlist");
  });

  test("nor where everything may run", async () => {
    const { folder, call } = await open({ allowlist: [], fs: { host_root: "<folder>" } });
    writeFileSync(join(folder, "mine"), "#!/bin/sh\necho mine\n");
    chmodSync(join(folder, "mine"), 0o755);
    expectPlain(await call("shell::exec", { command: join(folder, "mine") }), "lies in a folder");
    expectPlain(await call("shell::exec_bg", { command: join(folder, "mine") }), "lies in a folder");
  });

  test("a timeout ends the whole group, also what ignores TERM and holds the pipes", async () => {
    const { folder, call } = await open();
    const file = join(folder, "pid");
    const script = `(trap '' TERM; echo $$ > ${file}; sleep 1000 & echo $! > ${file}.sleep; wait) & wait`;
    const answer = answerOf(await call("shell::exec", sh(script, { timeout_ms: 1500 })));
    expect(answer).toMatchObject({ timed_out: true, exit_code: null });
    await waitForExit(await readPid(`${file}.sleep`));
  });

  test("what a program leaves behind does not hold the answer, and ends", async () => {
    const { folder, call } = await open();
    const file = join(folder, "pid");
    const answer = answerOf(await call("shell::exec", sh(`sleep 1000 & echo $! > ${file}; echo done`)));
    expect(answer).toMatchObject({ exit_code: 0, timed_out: false, stdout: "done\n" });
    await waitForExit(await readPid(file));
  });

  test("a script opens its outputs by name", async () => {
    const { call } = await open();
    const script = "echo oops > /dev/stderr; echo hi > /dev/stdout";
    expect(answerOf(await call("shell::exec", sh(script)))).toMatchObject({
      exit_code: 0,
      stdout: "hi\n",
      stderr: "oops\n",
    });
    const { job_id } = answerOf(await call("shell::exec_bg", sh(script)));
    expect(await waitForJob(served, job_id)).toMatchObject({ stdout: "hi\n", stderr: "oops\n" });
  });

  test("commands beyond the limit wait in line, and all are answered", async () => {
    const { folder, call } = await open({ max_concurrent_execs: 2 });
    const script = `cd ${folder}; : > $$; set -- *; sleep 0.1; rm $$; echo $#`;
    const answers = await Promise.all(Array.from({ length: 8 }, () => call("shell::exec", sh(script))));
    const atOnce = answers.map((outcome) => Number(answerOf(outcome)["stdout"]));
    expect(Math.max(...atOnce)).toBeLessThanOrEqual(2);
    expect(Math.min(...atOnce)).toBeGreaterThan(0);
  });

  test("sixty-four commands at once are answered", async () => {
    const { call } = await open();
    const answers = await Promise.all(
      Array.from({ length: 64 }, (_, index) =>
        call("shell::exec", { command: "echo", args: [`${index}`], timeout_ms: 5000 }),
      ),
    );
    expect(answers.map((outcome) => answerOf(outcome)["stdout"])).toEqual(
      answers.map((_, index) => `${index}\n`),
    );
  });

  test(
    "a flood of a gibibyte is read to its end in bounded memory",
    async () => {
      const { call, worker } = await open({ max_timeout_ms: floodMilliseconds });
      await call("shell::exec", sh("head -c 1048576 /dev/zero"));
      const before = peakKibibytes(worker);
      const script = "head -c 1073741824 /dev/zero && echo whole >&2";
      const answer = answerOf(await call("shell::exec", sh(script, { timeout_ms: floodMilliseconds })));
      expect(answer).toMatchObject({ exit_code: 0, timed_out: false, stderr: "whole\n" });
      expect(answer).toMatchObject({ stdout: "\0".repeat(4096), stdout_truncated: true });
      expect(peakKibibytes(worker) - before).toBeLessThan(128 * 1024);
    },
    2 * floodMilliseconds,
  );

  test("the worker's own PATH does not decide what runs", async () => {
    const config = { allowlist: ["whoami", "which"], fs: { host_root: null, allow_unjailed: true } };
    const { folder, call } = await open(config, { env: { PATH: `<folder>:${process.env["PATH"]}` } });
    writeFileSync(join(folder, "whoami"), "#!/bin/sh\necho mine\n");
    chmodSync(join(folder, "whoami"), 0o755);
    // The command has this PATH, and would find the other program.
    expect(answerOf(await call("shell::exec", { command: "which whoami" }))["stdout"]).toBe(
      `${join(folder, "whoami")}\n`,
    );
    expect(answerOf(await call("shell::exec", { command: "whoami" }))["stdout"]).not.toBe("mine\n");
  });

  test("a variable that makes a program run code is not passed on", async () => {
    const config = { allowlist: ["bash"], allowed_env: ["PATH", "BASH_ENV"] };
    const { folder, call } = await open(config, { env: { BASH_ENV: "<folder>/code" } });
    writeFileSync(join(folder, "code"), "echo planted\n");
    const echo = { command: "bash", args: ["-c", "echo $BASH_ENV"] };
    expect(answerOf(await call("shell::exec", echo))["stdout"]).toBe("\n");
  });

  test("a job that is refused has not run", async () => {
    const { folder, call } = await open({ max_concurrent_jobs: 0 });
    expectPlain(await call("shell::exec_bg", sh(`echo x > ${folder}/trace`)), "max concurrent jobs");
    expect(answerOf(await call("shell::exec", { command: "ls", args: [folder] }))["stdout"]).toBe("");
  });

  test("a kill ends the whole group before it is answered", async () => {
    const { folder, call } = await open();
    const file = join(folder, "pid");
    const { job_id } = answerOf(await call("shell::exec_bg", sh(`sleep 1000 & echo $! > ${file}; wait`)));
    const pid = await readPid(file);
    expect(answerOf(await call("shell::kill", { job_id }))).toMatchObject({ killed: true });
    expect(isAlive(pid)).toBe(false);
  });

  test("a job that closes its outputs can be killed", async () => {
    const { folder, call } = await open();
    const file = join(folder, "pid");
    const script = `exec >&- 2>&-; echo $$ > ${file}; sleep 1000`;
    const { job_id } = answerOf(await call("shell::exec_bg", sh(script)));
    const pid = await readPid(file);
    expect(answerOf(await call("shell::kill", { job_id }))).toEqual({
      job_id,
      killed: true,
      status: "killed",
    });
    expect(isAlive(pid)).toBe(false);
  });

  test("a killed job keeps its end and gets its output", async () => {
    const { folder, call } = await open();
    const script = `trap '' TERM; echo before; touch ${folder}/ready; sleep 1000`;
    const { job_id } = answerOf(await call("shell::exec_bg", sh(script)));
    await waitFor(() => existsSync(join(folder, "ready")) || undefined);
    await call("shell::kill", { job_id });
    expect(await waitForJob(served, job_id)).toMatchObject({
      status: "killed",
      exit_code: null,
      stdout: "before\n",
    });
  });

  test("ended jobs are kept up to a number", async () => {
    const { call } = await open({ max_finished_jobs: 2, job_retention_secs: 3600 });
    for (let index = 0; index < 4; index++) {
      const { job_id } = answerOf(await call("shell::exec_bg", { command: "true" }));
      if (index < 3) await waitForJob(served, job_id);
    }
    await waitFor(async () => (answerOf(await call("shell::list", {}))["count"] === 2 ? true : undefined));
  });

  test("ended jobs are kept up to a number of bytes, but the last one always", async () => {
    const { call } = await open({ max_finished_job_bytes: 5000, job_retention_secs: 3600 });
    const ids: unknown[] = [];
    for (let index = 0; index < 3; index++) {
      const { job_id } = answerOf(await call("shell::exec_bg", sh("head -c 4000 /dev/zero")));
      await waitForJob(served, job_id);
      ids.push(job_id);
    }
    const { jobs } = answerOf(await call("shell::list", {}));
    expect((jobs as { id: string }[]).map(({ id }) => id)).toEqual(ids.slice(2) as string[]);
  });

  test("a job whose time is over goes by itself", async () => {
    const { call } = await open({ job_retention_secs: 0 });
    const { job_id } = answerOf(await call("shell::exec_bg", { command: "true" }));
    const { error } = await waitFor(async () => {
      const outcome = await call("shell::status", { job_id });
      return outcome.error === undefined ? undefined : outcome;
    });
    expectPlain({ error: error! }, "no such job");
  });

  test("private jobs are seen and ended by their caller alone", async () => {
    const { call, connect } = await open({ private_jobs: true });
    const { job_id } = answerOf(await call("shell::exec_bg", { command: "sleep", args: ["5"] }));
    const other = connect();
    const ask = (function_id: string, payload: object) =>
      other.trigger({ function_id, payload }).catch((error: Error) => error.message);
    expect(await ask("shell::list", {})).toMatchObject({ count: 0 });
    expect(await ask("shell::status", { job_id })).toContain("no such job");
    expect(await ask("shell::kill", { job_id })).toContain("no such job");
    expect(answerOf(await call("shell::list", {}))).toMatchObject({ count: 1 });
    expect(answerOf(await call("shell::kill", { job_id }))).toMatchObject({ killed: true });
  });

  test("a private job whose caller has left is listed for everybody, and everybody can end it", async () => {
    const { call, connect } = await open({ private_jobs: true, max_timeout_ms: 60_000 });
    const other = connect();
    const payload = { command: "sleep", args: ["1000"] };
    const { job_id } = (await other.trigger({ function_id: "shell::exec_bg", payload })) as {
      job_id: string;
    };
    expect(answerOf(await call("shell::list", {}))).toMatchObject({ count: 0 });
    await other.shutdown();
    await waitFor(async () => (answerOf(await call("shell::list", {}))["count"] === 1 ? true : undefined));
    expectPlain(await call("shell::status", { job_id }), "no such job");
    expect(answerOf(await call("shell::kill", { job_id }))).toMatchObject({ killed: true });
  });

  test("a job ends when its time is over", async () => {
    const { call } = await open({ max_job_secs: 1 });
    const { job_id } = answerOf(await call("shell::exec_bg", sh("echo early; sleep 1000")));
    const job = await waitFor(async () => {
      const answer = answerOf(await call("shell::status", { job_id })) as { job: Record<string, unknown> };
      return answer.job["stderr"] === "" ? undefined : answer.job;
    });
    expect(job).toMatchObject({ status: "killed", exit_code: null, finished_at_ms: expect.any(Number) });
    expect(job).toMatchObject({ stdout: "early\n", stderr: "ended: max_job_secs is over\n" });
  });

  test("a working folder that is replaced by a link stays what it was", async () => {
    const { folder, call } = await open({ working_dir: "<folder>" });
    const pwd = async () => answerOf(await call("shell::exec", { command: "pwd" }))["stdout"];
    expect(await pwd()).toBe(`${folder}\n`);
    renameSync(folder, `${folder}.moved`);
    symlinkSync("/etc", folder);
    expect(await pwd()).toBe(`${folder}.moved\n`);
  });

  test("who ran what is in the log, without the arguments", async () => {
    const { call, worker } = await open();
    await call("shell::exec", { command: "echo", args: ["secret-argument"] });
    await worker.waitForStderr(/"message":"exec".*"program":"[^"]*echo"/);
    expect(worker.stderr()).toMatch(/"message":"exec","caller":"[0-9a-f-]{36}"/);
    expect(worker.stderr()).not.toContain("secret-argument");
  });

  test.each(["SIGTERM", "SIGINT"] as const)(
    "%s ends commands and jobs, answers, and exits 0",
    async (signal) => {
      const { folder, call, worker } = await open();
      const [one, other] = [join(folder, "one"), join(folder, "other")];
      const running = call("shell::exec", sh(`echo $$ > ${one}; sleep 1000`, { timeout_ms: 5000 }));
      await call("shell::exec_bg", sh(`echo $$ > ${other}; sleep 1000`));
      const pids = [await readPid(one), await readPid(other)];
      worker.child.kill(signal);
      expect(await running).toMatchObject({
        answer: { exit_code: null, timed_out: false, stderr: "ended: the worker is stopping\n" },
      });
      expect(await worker.exited).toBe(0);
      expect(pids.map(isAlive)).toEqual([false, false]);
    },
  );
});
