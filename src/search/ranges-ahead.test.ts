/** Searches of paths of which threads search later parts: the answer is that of one walk, whatever becomes of the threads. */
import { expect, test } from "bun:test";
import { renameSync } from "node:fs";
import { dirname, join } from "node:path";
import { setTimeout as sleep } from "node:timers/promises";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import type { Files } from "../files/files.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import { countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { deadlineIn } from "../scheduling/deadline.ts";
import { isPathLiteral } from "./path-literal.ts";
import { type Fate, fates, runClock, searchPathsIn, slowly, withTree } from "./ranges-ahead.test-kit.ts";
import { openSearcher } from "./search.test-kit.ts";

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
    propertyRuns(200),
  );
  expect(ranges).toBeGreaterThan(50);
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

test("a thread is not ended in the middle, which would leave its folders open", async () => {
  await withTree(wide, async (base) => {
    const cancelled = new AbortController();
    const deadline = deadlineIn(20_000, cancelled.signal);
    let cancels = 0;
    const setting = {
      fates: ["slow"] as const,
      deadline,
      onJob: () => cancelled.abort(),
      onCancel: () => cancels++,
    };
    const { jobs } = await searchPathsIn(base, { pattern: "needle" }, setting);
    expect(jobs).toBe(1);
    await sleep(slowly);
    expect(cancels).toBe(0);
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
