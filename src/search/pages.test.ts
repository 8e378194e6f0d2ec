import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import fc from "fast-check";
import type { BackendName } from "../jail/folder.ts";
import { Cursors } from "./cursors.ts";
import type { Place } from "./place.ts";
import type { PageRequest, SearchAnswer } from "./request.ts";
import { openSearcher, type RequestFields, type RunSearch } from "./search.test-kit.ts";

const base = mkdtempSync(join(tmpdir(), "coder-"));
const tree = join(base, "tree");
const closers: (() => Promise<void>)[] = [];

afterAll(async () => {
  for (const close of closers) await close();
  rmSync(base, { recursive: true, force: true });
});

type Contents = Readonly<Record<string, string | Buffer>>;

function write(files: Contents): void {
  for (const [path, content] of Object.entries(files)) {
    mkdirSync(dirname(join(tree, path)), { recursive: true });
    writeFileSync(join(tree, path), content);
  }
}

function fill(files: Contents): void {
  rmSync(tree, { recursive: true, force: true });
  mkdirSync(tree);
  write(files);
}

function open(backend: BackendName, threads: boolean): RunSearch {
  const { search, close } = openSearcher(base, { backend, threads, deny: ["**/denied*"] });
  closers.push(close);
  return search;
}

const searches = [open("openat", true), open("openat", false), open("descriptors", true)];
const cursors = new Cursors();

const pageFrom = (cursor: string | undefined, limits: Partial<PageRequest> = {}): PageRequest => ({
  maxBytes: Number.POSITIVE_INFINITY,
  milliseconds: undefined,
  ...limits,
  after: cursor === undefined ? undefined : cursors.open("q", cursor)!,
  seal: (place) => cursors.seal("q", place),
});

/** Limits of one page, and who searches it. */
interface Turn extends Partial<Pick<PageRequest, "maxBytes" | "milliseconds">> {
  readonly maxMatches: number;
  readonly by: number;
}

/** All pages, with limits that take turns; `between` is called between two of them. */
async function readPages(
  fields: RequestFields,
  turns: readonly Turn[],
  between = () => {},
): Promise<SearchAnswer[]> {
  const pages: SearchAnswer[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const { maxMatches, by, ...limits } = turns[pages.length % turns.length]!;
    if (pages.length > 0) between();
    const page = await searches[by]!({ ...fields, maxMatches, page: pageFrom(cursor, limits) });
    expect(page.stopped_by === undefined).toBe(page.next_cursor === undefined);
    expect(page.truncated).toBe(page.stopped_by !== undefined);
    if (page.stopped_by !== undefined && page.stopped_by !== "deadline")
      expect(
        page.content_matches.length + page.path_matches.length + (page.files?.length ?? 0),
      ).toBeGreaterThan(0);
    pages.push(page);
    cursor = page.next_cursor;
  }
  return pages;
}

const together = (pages: readonly SearchAnswer[]) => ({
  contents: pages.flatMap(({ content_matches }) => content_matches),
  paths: pages.flatMap(({ path_matches }) => path_matches),
  files: pages.flatMap(({ files = [] }) => files),
});

const name = fc.constantFrom("a", "b", "a.b", "a-", "a0", "é", "x y", "Z", "denied");
const path = fc
  .array(name, { minLength: 1, maxLength: 4 })
  .map((names) => `${names.join("/")}/f${names.length}`);
const line = fc.constantFrom(
  "foo",
  "Foo bar",
  "",
  "é\r",
  "foo\0",
  "foo\xe9",
  `${"x".repeat(300)}foo`,
  "foofoo",
  "\ufefffoo",
);
const content = fc.array(line, { maxLength: 12 }).map((lines) => Buffer.from(lines.join("\n")));
const trees = fc.dictionary(path, content, { minKeys: 1, maxKeys: 25 });
const queries = fc.record({
  pattern: fc.constantFrom("foo", "o+", "^$", "(?i)FOO|k", "a/", "f", "f[12]"),
  regex: fc.boolean(),
  ignoreCase: fc.boolean(),
  maxLineBytes: fc.constantFrom(4096, 50),
  content: fc.boolean(),
  mode: fc.constantFrom("content" as const, "files" as const, "counts" as const),
  linesBefore: fc.constantFrom(0, 2),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  maxMatches: fc.constantFrom(1, 2, 5, 1000),
  maxBytes: fc.constantFrom(0, 300, 600, 2000, 1_000_000),
  milliseconds: fc.constantFrom(undefined, undefined, 0, 1),
  by: fc.nat({ max: searches.length - 1 }),
});
const turns = fc.array(turn, { minLength: 1, maxLength: 5 });

test("the union of all pages is the whole answer", async () => {
  await fc.assert(
    fc.asyncProperty(trees, queries, turns, async (files, query, limits) => {
      fill(files);
      const whole = await searches[0]!({ ...query, paths: true });
      const pages = together(await readPages({ ...query, paths: true }, limits));
      expect(pages).toEqual(together([whole]));
    }),
    { numRuns: 60 },
  );
}, 60_000);

test("what does not change while others change is told once", async () => {
  const edit = fc.record({ path, content: fc.option(content, { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(
      trees,
      trees,
      fc.array(edit, { maxLength: 8 }),
      turns,
      async (files, kept, edits, limits) => {
        const query = { pattern: "f", regex: true };
        const stays = Object.fromEntries(Object.entries(kept).map(([one, text]) => [`${one}.kept`, text]));
        fill({ ...files, ...stays });
        const expected = together([await searches[0]!(query)]);
        const left = [...edits];
        const pages = await readPages(query, limits, () => {
          const next = left.shift();
          if (next?.content !== undefined) write({ [next.path]: next.content });
          else if (next !== undefined) rmSync(join(tree, next.path), { force: true });
        });
        const isKept = (match: { path: string }) => match.path.endsWith(".kept");
        expect(together(pages).contents.filter(isKept)).toEqual(expected.contents.filter(isKept));
        expect(together(pages).paths.filter(isKept)).toEqual(expected.paths.filter(isKept));
      },
    ),
    { numRuns: 60 },
  );
}, 60_000);

test("each thread count gives the same pages, with the same counts", async () => {
  await fc.assert(
    fc.asyncProperty(trees, queries, fc.constantFrom(1, 3), async (files, query, maxMatches) => {
      fill(files);
      const [first, ...others] = await Promise.all(
        searches.map((_, by) => readPages({ ...query, paths: true }, [{ maxMatches, maxBytes: 700, by }])),
      );
      const without = ({ next_cursor, ...page }: SearchAnswer) => page;
      for (const pages of others) expect(pages.map(without)).toEqual(first!.map(without));
    }),
    { numRuns: 25 },
  );
}, 60_000);

test("names that are not UTF-8 have places of their own", async () => {
  fill({});
  const names = [0xfd, 0xfe, 0xff].map((byte) =>
    Buffer.concat([Buffer.from(`${tree}/`), Buffer.from([byte])]),
  );
  for (const one of names) writeFileSync(one, "foo\nfoo\n");
  for (let by = 0; by < searches.length; by++) {
    const pages = await readPages({ pattern: "foo" }, [{ maxMatches: 1, by }]);
    expect(together(pages).contents.map(({ path, line }) => `${path}:${line}`)).toEqual(
      names.flatMap(() => ["tree/\ufffd:1", "tree/\ufffd:2"]),
    );
  }
});

test("what was searched, and what was not", async () => {
  fill({
    a: "foo\n",
    binary: "foo\0",
    "denied.txt": "foo",
    "late-binary": `${"x\n".repeat(2000)}foo\n\0`,
    large: "x".repeat(2 * 1024 * 1024),
    none: "bar\n",
  });
  for (const search of searches) {
    const { searched, skipped } = await search({ pattern: "foo", page: pageFrom(undefined) });
    expect({ searched, skipped }).toEqual({
      searched: { files: 2, bytes: 8 },
      skipped: { too_large: 1, binary: 2, unreadable: 0, excluded: 0 },
    });
    const paths = await search({ pattern: "a", content: false, page: pageFrom(undefined) });
    expect(paths.searched).toEqual({ files: 5, bytes: 0 });
  }
});

test("a match larger than a page is a page of its own, and cut if no message could carry it", async () => {
  fill({ a: `${"\u0001".repeat(1000)}foo\nfoo\n` });
  for (let by = 0; by < searches.length; by++) {
    const pages = await readPages({ pattern: "foo", paths: false }, [{ maxMatches: 9, maxBytes: 10, by }]);
    expect(together(pages).contents.map(({ text }) => text.length)).toEqual([1003, 3]);
    const short = await readPages({ pattern: "foo", paths: false, maxAnswerBytes: 1000 }, [
      { maxMatches: 9, by },
    ]);
    expect(together(short).contents.map(({ line }) => line)).toEqual([1, 2]);
    expect(together(short).contents[0]?.text.length).toBeLessThan(200);
  }
});

test("a page says what ended it, and fits", async () => {
  fill(Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d${index}/f`, "foo\nfoo\n"])));
  for (const search of searches) {
    const matches = await search({ pattern: "foo", maxMatches: 3, page: pageFrom(undefined) });
    expect(matches.stopped_by).toBe("max_matches");
    const bytes = await search({ pattern: "foo", page: pageFrom(undefined, { maxBytes: 1500 }) });
    expect(bytes.stopped_by).toBe("max_bytes");
    expect(Buffer.byteLength(JSON.stringify(bytes))).toBeLessThanOrEqual(1500);
    const time = await search({ pattern: "foo", page: pageFrom(undefined, { milliseconds: 0 }) });
    expect(time.stopped_by).toBe("deadline");
    expect(time.searched!.files).toBeGreaterThan(0);
    const call = await search({ pattern: "foo", page: pageFrom(undefined) }, 0);
    expect(call.stopped_by).toBe("deadline");
    expect(call.content_matches).toEqual([]);
    const none = await search({ pattern: "foo", maxMatches: 0, page: pageFrom(undefined) });
    expect(none).toMatchObject({ content_matches: [], stopped_by: "max_matches" });
    const whole = await search({ pattern: "foo", page: pageFrom(undefined) });
    expect([whole.stopped_by, whole.next_cursor]).toEqual([undefined, undefined]);
  }
});

test("a deadline goes on through folders in which nothing is to be searched", async () => {
  fill(Object.fromEntries(Array.from({ length: 300 }, (_, index) => [`d${index}/f`, "foo\n"])));
  const exclude = { matches: (path: string) => !path.startsWith("tree/d99") };
  for (let by = 0; by < searches.length; by++) {
    const pages = await readPages({ pattern: "foo", exclude }, [{ maxMatches: 9, milliseconds: 0, by }]);
    expect(together(pages).contents.map(({ path }) => path)).toEqual(["tree/d99/f"]);
  }
});

test("a cursor is good for one query and one process, and for nothing else", () => {
  const places = fc.record({
    file: fc.string({ unit: fc.integer({ min: 1, max: 255 }).map((byte) => String.fromCharCode(byte)) }),
    line: fc.nat({ max: 0xffffffff }),
    column: fc.nat({ max: 0xffffffff }),
  }) satisfies fc.Arbitrary<Place>;
  fc.assert(
    fc.property(places, fc.string(), fc.nat(), (place, query, at) => {
      const cursor = cursors.seal(query, place);
      expect(cursors.open(query, cursor)).toEqual(place);
      expect(cursors.open(`${query}x`, cursor)).toBeUndefined();
      expect(new Cursors().open(query, cursor)).toBeUndefined();
      const index = at % cursor.length;
      const other = cursor[index] === "A" ? "B" : "A";
      expect(cursors.open(query, cursor.slice(0, index) + other + cursor.slice(index + 1))).toBeUndefined();
      expect(cursors.open(query, cursor.slice(0, index))).toBeUndefined();
      expect(cursors.open(query, `${cursor}=`)).toBeUndefined();
    }),
  );
});
