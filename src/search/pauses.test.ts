import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { openSearcher } from "./search.test-kit.ts";
import type { PathFilter } from "./walk/entry-filter.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
for (let i = 0; i < 100; i++) writeFileSync(join(base, `${i}.txt`), "needle\n");
const { search: ask, close } = openSearcher(base, { backend: "openat", threads: true });

afterAll(async () => {
  await close();
  rmSync(base, { recursive: true });
});

/** A glob that takes 2 ms to reject a path, as a caller's glob may. */
const slowGlob: PathFilter = {
  matches() {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return false;
  },
};

/** A slow glob that matches half of the paths, so that threads always have work. */
const slowAndHalf: PathFilter = {
  matches: (path) => slowGlob.matches(path) || Number.parseInt(path, 10) % 2 === 0,
};

/** Counts the turns of the event loop during a search. */
async function countTurns<T>(search: () => Promise<T>): Promise<{ answer: T; turns: number }> {
  let turns = 0;
  let isUnderWay = true;
  const count = () => {
    turns++;
    if (isUnderWay) setImmediate(count);
  };
  setImmediate(count);
  const answer = await search();
  isUnderWay = false;
  return { answer, turns };
}

describe.each([
  ["a literal", { regex: false }],
  ["a pattern", { regex: true }],
])("a search for %s whose globs leave nothing, or half", (_, kind) => {
  test.each([
    ["nothing", slowGlob],
    ["half", slowAndHalf],
  ])("lets others have their turns (%s)", async (_, include) => {
    const { answer, turns } = await countTurns(() => ask({ pattern: "needle", include, ...kind }));
    expect(answer.content_matches).toHaveLength(include === slowGlob ? 0 : 50);
    expect(turns).toBeGreaterThan(10);
  });

  test("ends at its deadline, and says that something may be missing", async () => {
    const answer = await ask({ pattern: "needle", include: slowGlob, ...kind }, 20);
    expect(answer).toEqual({ content_matches: [], path_matches: [], truncated: true });
  });
});

test("between large files of one folder others have their turns, without threads too", async () => {
  const folder = join(base, "large");
  mkdirSync(folder);
  for (let i = 0; i < 16; i++)
    writeFileSync(join(folder, `${i}.txt`), `${"no match here\n".repeat(400_000)}needle\n`);
  for (const threads of [false, true]) {
    const { search, close } = openSearcher(folder, { backend: "openat", threads });
    const request = { pattern: "needle", paths: false, maxFileBytes: 2 ** 24 };
    const { answer, turns } = await countTurns(() => search(request));
    await close();
    expect(answer.content_matches).toHaveLength(16);
    expect(turns).toBeGreaterThan(3);
  }
  rmSync(folder, { recursive: true });
});
