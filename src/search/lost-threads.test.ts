import { afterAll, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { ThreadEnded } from "../base/threads/pool.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { encodeFindings } from "./batches/findings-codec.ts";
import type { BatchJob, BatchReply } from "./batches/job.ts";
import type { SearchAnswer } from "./request.ts";
import { requestOf, stateRunning } from "./search.test-kit.ts";
import { SearchRun } from "./search-run.ts";
import { SharedFolder } from "./walk/shared-folder.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
writeFileSync(join(base, "a.txt"), "needle\n");
const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "descriptors" });
afterAll(() => {
  jail.close();
  rmSync(base, { recursive: true });
});

/**
 * Searches with threads. The first `lost` of them end during their work; the next one finds the file's path.
 */
async function searchLosing(lost: number): Promise<{ answer: SearchAnswer; jobs: number }> {
  let jobs = 0;
  const run = ({ files }: BatchJob) => {
    // This job validates the pattern.
    if (files.count === 0) return { reply: Promise.resolve<BatchReply>(encodeFindings([])), abort: () => {} };
    jobs++;
    const reply: Promise<BatchReply> =
      jobs <= lost
        ? Promise.reject(new ThreadEnded("lost"))
        : Promise.resolve(encodeFindings([{ index: 0, isInPath: true, lines: [], count: 0 }]));
    return { reply, abort: () => {} };
  };
  const state = stateRunning(run);
  const request = requestOf({ pattern: "nee+dle", regex: true });
  const folder = new SharedFolder(jail.admitFolder("."));
  const search = new SearchRun({
    request,
    deadline: deadlineIn(Number.POSITIVE_INFINITY),
    slice: createTimeSlice(5),
    state,
    folder,
    walk: { jail, files: { sweepFolder: () => 0 }, ...request },
  });
  const { answer } = await search.run();
  return { answer, jobs };
}

test("another thread searches what one was lost over", async () => {
  const { answer, jobs } = await searchLosing(1);
  expect(answer).toEqual({ content_matches: [], path_matches: [{ path: "a.txt" }], truncated: false });
  expect(jobs).toBe(2);
});

test("what two threads were lost over is left out, and the answer says so", async () => {
  const { answer, jobs } = await searchLosing(2);
  expect(answer).toEqual({ content_matches: [], path_matches: [], truncated: true });
  expect(jobs).toBe(2);
});
