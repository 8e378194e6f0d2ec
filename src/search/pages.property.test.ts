/**
 * Pages of random trees: together they are the whole answer, whatever ends them and however many threads
 * search.
 */
import { afterAll, expect, test } from "bun:test";
import { rmSync } from "node:fs";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { FuzzyPattern } from "./matchers/fuzzy.ts";
import { PagesFixture, searchers, type Turn, together } from "./pages.test-kit.ts";
import type { SearchAnswer } from "./request.ts";
import type { RequestFields } from "./search.test-kit.ts";

const fixture = new PagesFixture();
const { searches, tree } = fixture;

afterAll(() => fixture.close());

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
const ignoring = fc
  .array(fc.constantFrom("a", "/b/", "!b", "*.b", "f2", "é", "!f*"), { maxLength: 3 })
  .map((lines) => Buffer.from(lines.join("\n")));
const trees = fc
  .tuple(
    fc.dictionary(path, content, { minKeys: 1, maxKeys: 25 }),
    fc.dictionary(fc.constantFrom(".gitignore", "a/.ignore", "b/.gitignore"), ignoring, { maxKeys: 2 }),
  )
  .map(([files, rules]) => ({ ...files, ...rules }));
const queries = fc.record({
  pattern: fc.constantFrom(
    "foo",
    "o+",
    "^$",
    "(?i)FOO|k",
    "a/",
    "f",
    "f[12]",
    "o\n",
    "o\\n+",
    "(?s)o.*?f",
    "$",
  ),
  regex: fc.boolean(),
  ignoreCase: fc.boolean(),
  maxLineBytes: fc.constantFrom(4096, 50),
  content: fc.boolean(),
  mode: fc.constantFrom("content" as const, "content" as const, "files" as const, "counts" as const),
  linesBefore: fc.constantFrom(0, 0, 2),
  linesAfter: fc.constantFrom(0, 0, 1, 10),
  disjointContext: fc.boolean(),
  every: fc.boolean(),
  multiline: fc.boolean(),
  respectsIgnoreFiles: fc.boolean(),
  isExtended: fc.boolean(),
});
const turn: fc.Arbitrary<Turn> = fc.record({
  maxMatches: fc.constantFrom(1, 2, 5, 1000),
  maxBytes: fc.constantFrom(0, 300, 600, 2000, 1_000_000),
  milliseconds: fc.constantFrom(undefined, undefined, 0, 1),
  by: fc.nat({ max: searchers - 1 }),
});
/** Queries for paths by rank. */
const fuzzy = fc.constantFrom("f", "af", "bf1", "a f", "F", "é", "zz");
/** The kinds of searches for one letter while the tree changes. */
const kinds = fc.constantFrom<RequestFields>(
  { regex: true },
  { every: true, linesAfter: 2 },
  { linesBefore: 1, linesAfter: 2, disjointContext: true },
  { regex: true, multiline: true, pattern: "f\\w*(\n\\w+)?" },
  { mode: "counts" },
  { fuzzyPaths: true },
  { fuzzyPaths: true, content: false },
  { respectsIgnoreFiles: true },
);
const turns = fc.array(turn, { minLength: 1, maxLength: 5 });

test("the union of all pages is the whole answer", async () => {
  await fc.assert(
    fc.asyncProperty(trees, queries, turns, async (files, query, limits) => {
      fixture.fill(files);
      const whole = await searches[0]!({ ...query, paths: true });
      const pages = together(await fixture.readPages({ ...query, paths: true }, limits));
      expect(pages).toEqual(together([whole]));
    }),
    propertyRuns(60),
  );
}, 600_000);

test("the union of all pages is the whole answer where paths are ranked, and those are in order", async () => {
  await fc.assert(
    fc.asyncProperty(trees, queries, fuzzy, turns, async (files, query, pattern, limits) => {
      fixture.fill(files);
      const fields = { ...query, pattern, regex: false, paths: true, fuzzyPaths: true };
      const whole = await searches[0]!(fields);
      const pages = together(await fixture.readPages(fields, limits));
      expect(pages).toEqual(together([whole]));
      const score = (path: string) => new FuzzyPattern(pattern).score(path)!;
      const all = await searches[0]!({ ...query, pattern: "", regex: true, content: false });
      const paths = all.path_matches.map(({ path: one }) => one).filter((one) => score(one) !== undefined);
      const bytes = (one: string) => Buffer.from(one);
      paths.sort(
        (one, other) =>
          score(other) - score(one) ||
          bytes(one).length - bytes(other).length ||
          Buffer.compare(bytes(one), bytes(other)),
      );
      expect(whole.path_matches.map(({ path: one }) => one)).toEqual(paths);
    }),
    propertyRuns(30),
  );
}, 600_000);

test("what does not change while others change is told once", async () => {
  const edit = fc.record({ path, content: fc.option(content, { nil: undefined }) });
  await fc.assert(
    fc.asyncProperty(
      fc.record({ files: trees, kept: trees, fields: kinds }),
      fc.array(edit, { maxLength: 8 }),
      turns,
      async ({ files, kept, fields }, edits, limits) => {
        const query = { pattern: "f", ...fields };
        const stays = Object.fromEntries(Object.entries(kept).map(([one, text]) => [`${one}.kept`, text]));
        fixture.fill({ ...files, ...stays });
        const expected = together([await searches[0]!(query)]);
        const left = [...edits];
        const pages = await fixture.readPages(query, limits, () => {
          const next = left.shift();
          if (next?.content !== undefined) fixture.write({ [next.path]: next.content });
          else if (next !== undefined) rmSync(join(tree, next.path), { force: true });
        });
        const isKept = (match: { path: string }) => match.path.endsWith(".kept");
        expect(together(pages).contents.filter(isKept)).toEqual(expected.contents.filter(isKept));
        expect(together(pages).paths.filter(isKept)).toEqual(expected.paths.filter(isKept));
        expect(together(pages).files.filter(isKept)).toEqual(expected.files.filter(isKept));
      },
    ),
    propertyRuns(50),
  );
}, 600_000);

test("each thread count gives the same pages, with the same counts", async () => {
  await fc.assert(
    fc.asyncProperty(trees, queries, fc.constantFrom(1, 3), async (files, query, maxMatches) => {
      fixture.fill(files);
      const [first, ...others] = await Promise.all(
        searches.map((_, by) =>
          fixture.readPages({ ...query, paths: true }, [{ maxMatches, maxBytes: 700, by }]),
        ),
      );
      const without = ({ next_cursor, ...page }: SearchAnswer) => page;
      for (const pages of others) expect(pages.map(without)).toEqual(first!.map(without));
    }),
    propertyRuns(12),
  );
}, 600_000);
