/** For the tests of ranges ahead of a walk: a tree, a clock, and searches of which the test says what becomes of the threads. */
import { expect, spyOn } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import type { Files } from "../files/files.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import { countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { openJail } from "../jail/jail.ts";
import { type Deadline, deadlineIn } from "../scheduling/deadline.ts";
import { createTimeSlice } from "../scheduling/time-slice.ts";
import { ThreadEnded } from "../threads/pool.ts";
import { encodeFindings } from "./findings-codec.ts";
import { createRangeSearch, type FoundInRange, type PathRangeJob, rangeStates } from "./path-range.ts";
import type { SearchAnswer } from "./request.ts";
import { SearchRun } from "./run.ts";
import { type RequestFields, requestOf, stateRunning } from "./search.test-kit.ts";
import { SharedFolder } from "./shared-folder.ts";
import type { BatchJob } from "./thread.ts";

/** Makes a tree of files, for as long as `use` takes. */
export async function withTree(
  paths: readonly (string | Buffer)[],
  use: (base: string) => Promise<void>,
): Promise<void> {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  try {
    for (const path of paths) {
      const file = Buffer.concat([Buffer.from(`${base}/`), Buffer.from(path)]);
      const folder = file.subarray(0, file.lastIndexOf("/"));
      mkdirSync(folder, { recursive: true });
      writeFileSync(file, "");
    }
    await use(base);
  } finally {
    rmSync(base, { recursive: true });
  }
}

/** What becomes of a job: the thread does it, has no time for it before it is stopped, stops in the middle, or is lost. */
export const fates = ["done", "not begun", "stopped", "lost", "no thread"] as const;
export type Fate = (typeof fates)[number] | "slow";

/** Milliseconds that a slow thread takes to notice that it is to stop. */
export const slowly = 400;

/** A clock by which a time slice takes a few looks; it stops a thread after some more. */
export function runClock(): Disposable & {
  stopping: { readonly state: Int32Array; looks: number } | undefined;
} {
  let time = performance.now();
  const clock = {
    stopping: undefined as { readonly state: Int32Array; looks: number } | undefined,
    [Symbol.dispose]: () => spy.mockRestore(),
  };
  const spy = spyOn(performance, "now").mockImplementation(() => {
    const { stopping } = clock;
    if (stopping !== undefined && --stopping.looks === 0)
      Atomics.store(stopping.state, 0, rangeStates.stopped);
    time += 0.4;
    return time;
  });
  return clock;
}

interface Setting {
  readonly fates: readonly Fate[];
  readonly deny?: readonly string[];
  readonly deadline?: Deadline;
  /** Called before a thread begins. */
  readonly onJob?: () => void;
  /** Called when a job is cancelled. */
  readonly onCancel?: () => void;
  readonly sweepFolder?: Files["sweepFolder"];
}

/** Searches the paths in a folder, with threads of which this is what becomes of their jobs, one after another. */
export async function searchPathsIn(
  base: string,
  fields: RequestFields,
  {
    fates,
    deny = [],
    deadline = deadlineIn(20_000),
    onJob = () => {},
    onCancel = () => {},
    sweepFolder = () => 0,
  }: Setting,
): Promise<{ readonly answer: SearchAnswer; readonly jobs: number }> {
  const jail = openJail({ basePath: base, deny: compileGlobSet(deny), backend: "openat" });
  const searchRange = createRangeSearch();
  let jobs = 0;
  using clock = runClock();
  const searchUntilStopped = (job: PathRangeJob) => {
    clock.stopping = { state: job.state, looks: 8 };
    const found = searchRange(job);
    clock.stopping = undefined;
    return found;
  };
  const run = (job: PathRangeJob | BatchJob) => {
    // It asks whether the pattern is valid.
    if (!("what" in job)) return { reply: Promise.resolve(encodeFindings([])), cancel() {} };
    const fate = fates[jobs++ % fates.length];
    if (fate === "no thread") throw new Error("no thread can start");
    onJob();
    const early =
      fate === "done" || fate === "slow"
        ? searchRange(job)
        : fate === "stopped"
          ? searchUntilStopped(job)
          : undefined;
    const reply = async (): Promise<FoundInRange> => {
      await new Promise(setImmediate);
      if (fate === "lost") throw new ThreadEnded("lost");
      if (fate === "slow") await sleep(slowly);
      return early ?? searchRange(job);
    };
    return { reply: reply(), cancel: onCancel };
  };
  const state = stateRunning(run, { rangesAhead: fates.length === 0 ? 0 : 2 });
  const request = requestOf({ content: false, ...fields });
  const folder = new SharedFolder(jail.admitFolder(request.path));
  const walk = { jail, files: { sweepFolder }, ...request };
  try {
    const slice = createTimeSlice(1);
    const { answer } = await new SearchRun({ request, deadline, slice, state, folder, walk }).run();
    // The replies that the search has not waited for.
    await new Promise(setImmediate);
    return { answer, jobs };
  } finally {
    deadline.end();
    expect(countDescriptorsBelow(base)).toBe(1);
    jail.close();
  }
}
