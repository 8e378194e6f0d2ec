/** Tests that following `next_cursor` to the end returns the answer of a single call, over a real engine. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { defaultSubjects } from "../harness/subject.ts";
import { startWorker, type WorkerFixture } from "../harness/worker-fixture.ts";

const lines = ["x", "xx ax", "y", "x {", "  x }", "", "éx\r", "x"].join("\n");
const tree = {
  ...Object.fromEntries(
    Array.from({ length: 12 }, (_, index) => [
      `d${index % 3}/f-${index}.txt`,
      `${lines}\n${"x\n".repeat(index)}`,
    ]),
  ),
  "x/x-x.txt": "none",
  "denied/.env": "x\n",
  "dist/x.txt": "x\n",
  ".gitignore": "f-7.txt\n",
  binary: "x\0",
};

const queries: Readonly<Record<string, object>> = {
  "each line": { query: "x", every_match: false },
  "every match": { query: "x", every_match: true },
  "a regex over lines": { query: "x \\{\\s*x|x$", regex: true, multiline: true },
  "every match over lines": { query: "x\\s*", regex: true, multiline: true, every_match: true },
  "lines around": { query: "y", context_lines_before: 2, context_lines_after: 10 },
  files: { query: "x", mode: "files" },
  counts: { query: "x", mode: "counts", every_match: true },
  "ranked paths": { query: "dtxt", fuzzy_paths: true },
  "ranked paths and contents": { query: "x", fuzzy_paths: true, use_default_excludes: true },
  "ignore files": { query: "x", respect_gitignore: true, use_default_excludes: true },
  "a folder": { query: "x", path: "d1", every_match: true },
};

const limits: Readonly<Record<string, object>> = {
  "three matches": { max_matches: 3 },
  "one match": { max_bytes: 0 },
  "500 bytes": { max_bytes: 500 },
  "no time": { deadline_ms: 0, max_matches: 7 },
};

interface Answer {
  readonly content_matches: readonly object[];
  readonly path_matches: readonly object[];
  readonly files?: readonly object[];
  readonly next_cursor?: string;
  readonly stopped_by?: string;
}

describe.each(defaultSubjects)("%s", (subject) => {
  let served: WorkerFixture;

  beforeAll(async () => {
    served = await startWorker(subject);
    served.build(tree);
  });
  afterAll(() => served?.stop());

  async function search(payload: object): Promise<Answer> {
    const { answer, error } = await served.call("coder::search", payload);
    if (error !== undefined) throw error;
    return answer as Answer;
  }

  async function readAll(payload: object): Promise<Answer[]> {
    const pages = [await search({ max_bytes: 4_000_000, ...payload })];
    for (let last = pages[0]; last?.next_cursor !== undefined; last = pages.at(-1))
      pages.push(await search({ max_bytes: 4_000_000, ...payload, cursor: last.next_cursor }));
    return pages;
  }

  const together = (pages: readonly Answer[]) => ({
    contents: pages.flatMap(({ content_matches }) => content_matches),
    paths: pages.flatMap(({ path_matches }) => path_matches),
    files: pages.flatMap(({ files = [] }) => files),
  });

  const each = Object.keys(queries).flatMap((query) =>
    Object.keys(limits).map((limit) => [query, limit] as const),
  );

  test.each(each)("%s, in pages of %s", async (query, limit) => {
    const whole = await search(queries[query]!);
    const pages = await readAll({ ...queries[query], ...limits[limit] });
    expect(together(pages)).toEqual(together([whole]));
    expect(pages.at(-1)?.stopped_by).toBeUndefined();
    expect(pages.slice(0, -1).every(({ stopped_by }) => stopped_by !== undefined)).toBe(true);
    if (limit !== "no time") expect(pages.length).toBeGreaterThan(1);
  });

  test("a cursor of another query, or of this one changed, is refused", async () => {
    const { next_cursor: cursor } = await search({ query: "x", every_match: true, max_bytes: 0 });
    for (const payload of [
      { query: "x", cursor },
      { query: "y", every_match: true, cursor },
      { query: "x", every_match: true, cursor, path: "d1" },
      { query: "x", every_match: true, cursor: `${cursor}A` },
    ])
      expect((await served.call("coder::search", payload)).error?.message).toContain("next_cursor");
    expect((await search({ query: "x", every_match: true, cursor })).content_matches.length).toBeGreaterThan(
      9,
    );
  });
});
