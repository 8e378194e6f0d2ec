import { afterAll, describe, expect, test } from "bun:test";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../deadline.ts";
import { openFiles } from "../files/files.ts";
import { compileGlobSet, type GlobSet } from "../globs/glob-set.ts";
import { openJail } from "../jail/jail.ts";
import { openRegexEngine } from "../regex/engine.ts";
import { openSearcher, type SearchRequest } from "./search.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
for (let i = 0; i < 100; i++) writeFileSync(join(base, `${i}.txt`), "needle\n");
const jail = openJail({ basePath: base, deny: compileGlobSet([]) });
const files = openFiles({ jail, config: { max_write_bytes: 1024, fsync: false } });
const regex = openRegexEngine();
const searcher = openSearcher({ jail, files, regex });

afterAll(async () => {
  await searcher.close();
  await regex.close();
  jail.close();
  rmSync(base, { recursive: true });
});

/** A glob that takes 2 ms to say that a path does not match: a caller can write such ones. */
const slowGlob: GlobSet = {
  size: 1,
  patterns: [],
  matches() {
    const end = performance.now() + 2;
    while (performance.now() < end);
    return false;
  },
};

const request: SearchRequest = {
  query: "needle",
  path: ".",
  regex: false,
  ignoreCase: false,
  include: slowGlob,
  exclude: undefined,
  maxMatches: 1000,
  maxLineBytes: 4096,
  maxFileBytes: 1024,
  content: true,
  paths: true,
  maxAnswerBytes: 1024 * 1024,
};

describe.each([
  ["a literal", { regex: false }],
  ["a pattern", { regex: true }],
])("a search for %s whose globs leave nothing", (_, kind) => {
  test("lets others have their turns", async () => {
    let turns = 0;
    let isUnderWay = true;
    const count = () => {
      turns++;
      if (isUnderWay) setImmediate(count);
    };
    setImmediate(count);
    const answer = await searcher.search({ ...request, ...kind }, deadlineIn(60_000));
    isUnderWay = false;
    expect(answer).toEqual({ content_matches: [], path_matches: [], truncated: false });
    expect(turns).toBeGreaterThan(10);
  });

  test("ends at its deadline, and says that something may be missing", async () => {
    const answer = await searcher.search({ ...request, ...kind }, deadlineIn(20));
    expect(answer).toEqual({ content_matches: [], path_matches: [], truncated: true });
  });
});
