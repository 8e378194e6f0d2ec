/**
 * Tests that all processes of a command end with it, with its timeout, with a kill and with the worker,
 * whatever their process group.
 */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { readdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { defaultSubjects } from "../harness/subject.ts";
import { readPid } from "./alive.ts";
import { answerOf, waitFor } from "./case.ts";
import { type ShellFixture, startShell } from "./shell-fixture.ts";

/** Ways to start `sleep MARK` that outlive a signal to the first process group. */
const ways: Readonly<Record<string, string>> = {
  "in the group of its parent": "sleep MARK &",
  "deaf to SIGHUP": "nohup sleep MARK >/dev/null 2>&1 &",
  "deaf to SIGTERM": "(trap '' TERM; exec sleep MARK) &",
  orphaned: "(sleep MARK &)",
  "by job control": "set -m; sleep MARK &",
  "by job control, orphaned": "set -m; (sleep MARK & exit) &",
  "by job control, deaf and with a child": "set -m; (trap '' TERM HUP; sleep MARK & wait) &",
  "by timeout(1)": "timeout 900 sleep MARK &",
  "by timeout(1), without the outputs": "timeout 900 sleep MARK >/dev/null 2>&1 &",
};

const config = {
  allowlist: ["bash"],
  max_timeout_ms: 60_000,
  max_concurrent_jobs: 16,
  allowed_env: ["PATH"],
};

/** A program whose first thread ends by exit(2), called by number, while another thread continues. */
const endFirstThread = `perl -Mthreads -e 'threads->create(sub { sleep 900 }); syscall(${process.arch === "x64" ? 60 : 93}, 0)'`;

/** The number of marks so far. A mark is a number of seconds that identifies a sleep on this machine. */
let marks = 0;
const newMark = () => `86${process.pid}.${++marks}`;

/** Returns the ids of processes with the mark as an argument: the sleep, and programs that start it. */
function marked(mark: string): number[] {
  return readdirSync("/proc")
    .map(Number)
    .filter((id) => id > 0 && wordsOf(id).includes(mark));
}

function wordsOf(id: number): string[] {
  try {
    return readFileSync(`/proc/${id}/cmdline`, "utf8").split("\0");
  } catch {
    return [];
  }
}

/** Resolves when the sleep runs. This also proves that `marked` finds it. */
const sleeping = (mark: string) =>
  waitFor(() => (marked(mark).some((id) => wordsOf(id)[0] === "sleep") ? true : undefined));

const bash = (way: string, mark: string, end: string) => ({
  command: "bash",
  args: ["-c", `${way.replaceAll("MARK", mark)}\n${end}`],
});

describe.each(defaultSubjects)("%s", (subject) => {
  let served: ShellFixture;
  beforeAll(async () => {
    served = await startShell(subject, config);
  });
  afterAll(() => served.stop());

  describe.each(Object.entries(ways))("a program %s", (_, way) => {
    test("ends with its command", async () => {
      const mark = newMark();
      const go = join(served.folder, mark);
      const call = served.call("shell::exec", bash(way, mark, `until [ -e ${go} ]; do sleep 0.01; done`));
      await sleeping(mark);
      writeFileSync(go, "");
      expect(answerOf(await call)).toMatchObject({ exit_code: 0, timed_out: false });
      expect(marked(mark)).toEqual([]);
    });

    test("ends with its timeout", async () => {
      const mark = newMark();
      const call = served.call("shell::exec", { ...bash(way, mark, "sleep 900"), timeout_ms: 1500 });
      await sleeping(mark);
      expect(answerOf(await call)).toMatchObject({ timed_out: true });
      expect(marked(mark)).toEqual([]);
    });

    test("ends with a kill", async () => {
      const mark = newMark();
      const { job_id } = answerOf(await served.call("shell::exec_bg", bash(way, mark, "sleep 900")));
      await sleeping(mark);
      expect(answerOf(await served.call("shell::kill", { job_id }))).toMatchObject({ killed: true });
      expect(marked(mark)).toEqual([]);
    });
  });

  test.each(["SIGTERM", "SIGHUP"] as const)("all end with a worker that %s ends", async (signal) => {
    const worker = await startShell(subject, config);
    const mark = newMark();
    const all = Object.values(ways).map((way) => way.replaceAll("MARK", mark));
    for (const way of all) {
      answerOf(await worker.call("shell::exec_bg", bash(way, mark, "sleep 900")));
    }
    const sleeps = () => marked(mark).filter((id) => wordsOf(id)[0] === "sleep").length;
    await waitFor(() => (sleeps() === all.length ? true : undefined));
    worker.worker.child.kill(signal);
    await worker.stop();
    await waitFor(() => (marked(mark).length === 0 ? true : undefined));
  });

  test("what makes itself a session goes on, which the log says, and leaves no zombie", async () => {
    const mark = newMark();
    answerOf(await served.call("shell::exec", bash("setsid sleep MARK &", mark, "sleep 0.1")));
    await served.worker.waitForStderr(
      /"message":"a program has left its session and goes on","process":\d+,"program":"sleep"/,
    );
    const [id] = marked(mark);
    process.kill(id!, "SIGKILL");
    await waitFor(() => (readdirSync("/proc").includes(String(id)) ? undefined : true));
  });

  test("a process whose first thread has ended ends with its command", async () => {
    const file = join(served.folder, "threads");
    // /proc reports such a process as a zombie (proc(5)).
    const line = `${endFirstThread} > /dev/null 2>&1 & echo $! > ${file}; until grep -q ') Z ' /proc/$!/stat; do sleep 0.01; done`;
    const answer = await served.call("shell::exec", { command: "bash", args: ["-c", line] });
    expect(answerOf(answer)).toMatchObject({ exit_code: 0, timed_out: false });
    const id = await readPid(file);
    await waitFor(() => (readdirSync("/proc").includes(String(id)) ? undefined : true));
  });

  test("orphans of a job that runs on are reaped", async () => {
    const file = join(served.folder, "orphan");
    const script = `(sleep 0 & echo $! > ${file}); sleep 900`;
    const { job_id } = answerOf(await served.call("shell::exec_bg", bash("", newMark(), script)));
    const orphan = String(await readPid(file));
    await waitFor(() => (readdirSync("/proc").includes(orphan) ? undefined : true));
    answerOf(await served.call("shell::kill", { job_id }));
  });
});
