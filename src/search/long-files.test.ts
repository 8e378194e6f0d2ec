import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { createTimeSlice } from "../base/scheduling/time-slice.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { encodeFindings } from "./batches/findings-codec.ts";
import type { BatchJob } from "./batches/job.ts";
import { createThreadEngines } from "./matchers/thread-engines.ts";
import { openSearcher, type RequestFields, requestOf, stateRunning } from "./search.test-kit.ts";
import { SearchRun } from "./search-run.ts";
import type { SearchState } from "./state.ts";
import { SharedFolder } from "./walk/shared-folder.ts";

const lines = 60_000;
const base = mkdtempSync(join(tmpdir(), "coder-"));
writeFileSync(join(base, "a.txt"), "x\n");
writeFileSync(join(base, "b.txt"), `${"x\n".repeat(lines)}${"x".repeat(lines)}\n`);
writeFileSync(join(base, "c.txt"), "x\n");

const jail = openJail({ basePath: base, deny: compileGlobSet([]), backend: "openat" });
const regex = createRegexEngine({ threads: true });
const [here, inThreads] = [false, true].map((threads) => openSearcher(base, { backend: "openat", threads }));
afterAll(async () => {
  await Promise.all([here!, inThreads!].map(({ close }) => close()));
  await regex.close();
  jail.close();
  rmSync(base, { recursive: true });
});

/**
 * Searches with threads that find nothing, and that start only for a file that is left to them. Returns their
 * jobs.
 */
async function jobsOf(fields: RequestFields): Promise<BatchJob[]> {
  const jobs: BatchJob[] = [];
  const run = (job: BatchJob) => {
    jobs.push(job);
    return { reply: Promise.resolve(encodeFindings([])), abort: () => {} };
  };
  const pool = { run, isReady: false, prepare: () => {} } as unknown as NonNullable<SearchState["pool"]>;
  const createEngines = () => createThreadEngines(() => regex.runtime);
  const request = requestOf(fields);
  const search = new SearchRun({
    request,
    deadline: deadlineIn(Number.POSITIVE_INFINITY),
    slice: createTimeSlice(),
    state: stateRunning(run, { pool, createEngines }),
    folder: new SharedFolder(jail.admitFolder(".")),
    walk: { jail, files: { sweepFolder: () => 0 }, ...request },
  });
  await search.run();
  return jobs;
}

const literal: RequestFields = { pattern: "x", paths: false, maxMatches: 10_000, maxFileBytes: 2 ** 24 };

const kinds: [string, RequestFields][] = [
  ["counted lines", { mode: "counts" }],
  ["counted matches", { mode: "counts", every: true, maxLineBytes: 2 ** 31 }],
  ["counted lines and matches", { mode: "counts", countsMatches: true, maxLineBytes: 2 ** 31 }],
  ["counted matches across lines", { mode: "counts", every: true, multiline: true }],
  ["counted lines without a match", { pattern: "y", mode: "counts", invert: true }],
  ["lines with context", { linesBefore: 10, linesAfter: 10 }],
  ["counted matches of line ends", { pattern: "\n", multiline: true, mode: "counts", every: true }],
];

describe("a file with very many", () => {
  test.each(kinds)("%s is left to a thread, with the files after it", async (_, fields) => {
    const jobs = await jobsOf({ ...literal, ...fields });
    expect(jobs.map(({ first, files }) => [first, files.count])).toEqual([[1, 3]]);
  });

  test.each(kinds)("%s gets the answer of a search in this thread", async (_, fields) => {
    const answer = await inThreads!.search({ ...literal, ...fields });
    expect(answer).toEqual(await here!.search({ ...literal, ...fields }));
    expect(JSON.stringify(answer)).toContain('"b.txt"');
  });
});

test("files are left to threads if they may have U+FFFD for bytes that are not UTF-8", async () => {
  const jobs = await jobsOf({ ...literal, pattern: "x\ufffd" });
  expect(jobs.map(({ files }) => files.count)).toEqual([0, 3]);
  expect(await jobsOf({ ...literal, pattern: "x\ufffd", paths: true, content: false })).toEqual([]);
});

test("a page that begins far inside a file is left to a thread", async () => {
  const after = { file: "b.txt", line: lines - 1, column: 1 };
  const page = { maxBytes: 10_000, milliseconds: undefined, after, seal: () => "" };
  const jobs = await jobsOf({ ...literal, page });
  expect(jobs.map(({ first, files, after }) => [first, files.count, after?.line])).toEqual([
    [0, 2, lines - 1],
  ]);
});

test("a search that shows 10,000 matches, or stops at the first, needs no thread", async () => {
  for (const fields of [
    {},
    { mode: "files" },
    { every: true },
    { linesBefore: 2, maxMatches: 1000 },
  ] as const)
    expect(await jobsOf({ ...literal, ...fields })).toEqual([]);
});
