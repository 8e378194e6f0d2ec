/** Searches of paths of which threads search later parts: the answer is that of one walk, whatever becomes of the threads. */
import { afterAll, expect, spyOn, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { Files } from "../files/files.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import { countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { openJail } from "../jail/jail.ts";
import { temporaryName } from "../jail/temporary.ts";
import { type Deadline, deadlineIn } from "../scheduling/deadline.ts";
import { createTimeSlice } from "../scheduling/time-slice.ts";
import { ThreadEnded } from "../threads/pool.ts";
import { encodeFindings } from "./findings-codec.ts";
import { isPathLiteral } from "./path-literal.ts";
import { createRangeSearch, type FoundInRange, type PathRangeJob, rangeStates } from "./path-range.ts";
import type { SearchAnswer } from "./request.ts";
import { SearchRun } from "./run.ts";
import { openSearcher, type RequestFields, requestOf } from "./search.test-kit.ts";
import { SharedFolder } from "./shared-folder.ts";
import type { SearchState } from "./state.ts";
import type { BatchJob } from "./thread.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));
let trees = 0;

/** Makes a tree of files, for as long as `use` takes. */
async function withTree(
  paths: readonly (string | Buffer)[],
  use: (base: string) => Promise<void>,
): Promise<void> {
  const base = join(root, `${trees++}`);
  mkdirSync(base);
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
const fates = ["done", "not begun", "stopped", "lost", "no thread"] as const;
type Fate = (typeof fates)[number];

/** A clock by which a time slice takes a few looks; it stops a thread after some more. */
function runClock(): Disposable & { stopping: { readonly state: Int32Array; looks: number } | undefined } {
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

const withoutEngines = () => {
  throw new Error("a literal is searched without an engine");
};

interface Setting {
  readonly fates: readonly Fate[];
  readonly deny?: readonly string[];
  readonly deadline?: Deadline;
  /** Called before a thread begins. */
  readonly onJob?: () => void;
  readonly sweepFolder?: Files["sweepFolder"];
}

/** Searches the paths in a folder, with threads of which this is what becomes of their jobs, one after another. */
async function searchPathsIn(
  base: string,
  fields: RequestFields,
  { fates, deny = [], deadline = deadlineIn(20_000), onJob = () => {}, sweepFolder = () => 0 }: Setting,
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
      fate === "done" ? searchRange(job) : fate === "stopped" ? searchUntilStopped(job) : undefined;
    const reply = async (): Promise<FoundInRange> => {
      await new Promise(setImmediate);
      if (fate === "lost") throw new ThreadEnded("lost");
      return early ?? searchRange(job);
    };
    return { reply: reply(), cancel() {} };
  };
  const state: SearchState = {
    pool: { run } as unknown as NonNullable<SearchState["pool"]>,
    rangesAhead: fates.length === 0 ? 0 : 2,
    index: undefined,
    batchesAtOnce: 1,
    held: { folders: 0 },
    active: 1,
    isClosed: false,
    engines: undefined,
    isOverHere: () => false,
    createEngines: withoutEngines,
  };
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

const name = fc.oneof(
  fc
    .constantFrom("a", "b", "a.b", "a-", "a0", "é", "x y", "denied", ".gitignore")
    .map((one) => Buffer.from(one)),
  fc.constant(Buffer.from([0x61, 0xff])),
);
const slash = Buffer.from("/");
const path = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => Buffer.concat([...names.flatMap((one) => [one, slash]), Buffer.from(`f${names.length}`)]));
const globs = fc.constantFrom(undefined, ["a/**"], ["**/f1", "b/**"], ["*.b/**"]);

test("whatever becomes of the threads, an answer is that of one walk", async () => {
  let ranges = 0;
  const options = fc.record({
    pattern: fc.constantFrom("f", "a", "b/f", "f2", "é/", "\ufffd", "zz"),
    ignoreCase: fc.boolean(),
    maxMatches: fc.constantFrom(1, 3, 7, 1000),
    maxAnswerBytes: fc.constantFrom(200, 16 * 1024 * 1024),
    include: globs,
    exclude: globs,
  });
  const outcomes = fc.array(fc.constantFrom(...fates), { minLength: 1, maxLength: 5 });
  const paths = fc.uniqueArray(path, { minLength: 1, maxLength: 60, selector: String });
  await fc.assert(
    fc.asyncProperty(paths, options, outcomes, async (paths, { include, exclude, ...fields }, fates) => {
      await withTree(paths, async (base) => {
        const setOf = (patterns: readonly string[] | undefined) => patterns && compileGlobSet(patterns);
        fc.pre(isPathLiteral({ regex: false, multiline: false, ...fields }));
        const request = { ...fields, include: setOf(include), exclude: setOf(exclude) };
        const deny = ["**/denied"];
        const expected = await searchPathsIn(base, request, { fates: [], deny });
        const { answer, jobs } = await searchPathsIn(base, request, { fates, deny });
        expect(answer).toEqual(expected.answer);
        ranges += jobs;
      });
    }),
    { numRuns: 400 },
  );
  expect(ranges).toBeGreaterThan(100);
}, 120_000);

const wide = Array.from({ length: 400 }, (_, index) => `${index % 20}/${index}/needle`);

test("what does not change while the tree changes is found once", async () => {
  await withTree(wide, async (base) => {
    let changes = 0;
    const onJob = () => {
      const index = (changes++ * 7) % wide.length;
      const folder = join(base, dirname(wide[index]!));
      renameSync(folder, join(base, `${(index * 3) % 20}/moved-${changes}`));
    };
    const { answer } = await searchPathsIn(
      base,
      { pattern: "needle" },
      { fates: ["done", "stopped"], onJob },
    );
    expect(changes).toBeGreaterThan(2);
    const found = answer.path_matches.map(({ path }) => path);
    const moved = new Set(Array.from({ length: changes }, (_, index) => wide[(index * 7) % wide.length]));
    for (const path of wide) {
      if (!moved.has(path)) expect(found.filter((one) => one === path)).toEqual([path]);
    }
  });
});

test("a walk is not split below large folders, which each range would list again", async () => {
  const others = Array.from({ length: 600 }, (_, index) => `other${index}`);
  await withTree([...wide, ...others], async (base) => {
    const { answer, jobs } = await searchPathsIn(base, { pattern: "needle" }, { fates: ["done"] });
    expect(jobs).toBe(0);
    expect(answer.path_matches.length).toBe(wide.length);
  });
});

test("a search that is cancelled stops its threads, and holds no folder", async () => {
  await withTree(wide, async (base) => {
    const cancelled = new AbortController();
    const deadline = deadlineIn(20_000, cancelled.signal);
    const onJob = () => cancelled.abort();
    const { answer, jobs } = await searchPathsIn(
      base,
      { pattern: "needle" },
      { fates: ["not begun"], deadline, onJob },
    );
    expect(jobs).toBe(1);
    expect(answer.truncated).toBe(true);
    expect(answer.path_matches.length).toBeLessThan(wide.length);
  });
});

test("the temporary files that threads meet are swept where changes are known", async () => {
  const left = wide.map((path) => join(dirname(path), temporaryName()));
  await withTree([...wide, ...left], async (base) => {
    const swept: string[] = [];
    const sweepFolder: Files["sweepFolder"] = ({ path }, entries) => {
      swept.push(...entries.map(({ name }) => join(path, name)));
      return 0;
    };
    const { answer, jobs } = await searchPathsIn(
      base,
      { pattern: "needle" },
      { fates: ["done"], sweepFolder },
    );
    expect(jobs).toBeGreaterThan(2);
    expect(answer.path_matches.length).toBe(wide.length);
    expect(new Set(swept)).toEqual(new Set(left));
  });
});

test("a folder that is too deep is no more entered, and the answer says so", async () => {
  const deep = `z/${"d/".repeat(300)}needle`;
  await withTree([...wide, deep], async (base) => {
    const setting = (fates: readonly Fate[]) => searchPathsIn(base, { pattern: "needle" }, { fates });
    const { answer, jobs } = await setting(["done"]);
    expect(jobs).toBeGreaterThan(2);
    expect(answer.truncated).toBe(true);
    expect(answer).toEqual((await setting([])).answer);
  });
});

test.each([true, false])(
  "threads of a searcher find what one walk finds, in its order (cancelled: %p)",
  async (isCancelled) => {
    await withTree(wide, async (base) => {
      const fields = { content: false, pattern: "needle" };
      const one = openSearcher(base, { backend: "openat", threads: false });
      const { path_matches: expected } = await one.search(fields);
      await one.close();
      const several = openSearcher(base, { backend: "openat", threads: 2 });
      {
        using _ = runClock();
        for (let times = 0; times < 5; times++) {
          // By this clock a whole search takes longer.
          const answer = await several.search(fields, isCancelled ? 60 : 60_000);
          expect(answer.truncated).toBe(isCancelled);
          expect(answer.path_matches).toEqual(expected.slice(0, answer.path_matches.length));
          expect(answer.path_matches.length === wide.length).toBe(!isCancelled);
        }
      }
      await several.close();
      expect(countDescriptorsBelow(base)).toBe(0);
    });
  },
);
