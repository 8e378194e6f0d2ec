import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { filesOver } from "../filesystem/files/files.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { type RequestFields, requestOf } from "./search.test-kit.ts";
import { createSearcher } from "./search.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
for (const folder of ["a", "b", "c"]) {
  mkdirSync(join(base, folder));
  for (let number = 0; number < 20; number++) writeFileSync(join(base, folder, `x-${number}`), "x\nx\nx\n");
}

const jail = openJail({ basePath: base, deny: compileGlobSet([]) });
const entered = new Set<string>();
const watched = {
  ...jail,
  deniesBytesIn: (...[folder, ...name]: Parameters<typeof jail.deniesBytesIn>) => {
    entered.add(folder.path);
    return jail.deniesBytesIn(folder, ...name);
  },
};
const files = filesOver(jail, () => 0);
const regex = createRegexEngine({ threads: false });
const searcher = createSearcher({ jail: watched, files, regex, threads: false });
afterAll(async () => {
  await searcher.close();
  jail.close();
  rmSync(base, { recursive: true, force: true });
});

async function search(fields: RequestFields) {
  entered.clear();
  const { answer } = await searcher.search(requestOf(fields), {
    deadline: deadlineIn(Number.POSITIVE_INFINITY),
  });
  expect(answer.truncated).toBe(true);
  return { ...answer, folders: [...entered] };
}

test.each([false, true])(
  "a walk stops when both lists are full and something is left out (regex: %p)",
  async (isRegex) => {
    const query = { pattern: isRegex ? "[x]" : "x", regex: isRegex };
    const both = await search({ ...query, maxMatches: 20 });
    expect([both.content_matches.length, both.path_matches.length]).toEqual([20, 20]);
    // A batch that ends with the last file of a folder opens the next one.
    expect(both.folders).not.toContain("c");
    expect((await search({ ...query, maxMatches: 20, paths: false })).folders).not.toContain("c");
    // Only one more path shows that something is left out.
    const paths = await search({ ...query, maxMatches: 20, content: false });
    expect(paths.folders).toContain("b");
    expect(paths.folders).not.toContain("c");
  },
);

test("a walk goes on while one list can grow", async () => {
  const { content_matches, path_matches, folders } = await search({ pattern: "x", maxMatches: 55 });
  expect([content_matches.length, path_matches.length]).toEqual([55, 55]);
  expect(folders).toEqual(["", "a", "b", "c"]);
});
