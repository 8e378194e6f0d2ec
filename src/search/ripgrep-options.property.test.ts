/** Options of searches find in random trees what ripgrep finds with the corresponding flags. */
import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, utimesSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../tests/harness/random.ts";
import { addToTree } from "../../tests/harness/tree.ts";
import { ripgrep } from "./ignore/ripgrep.test-kit.ts";
import { pageFrom } from "./pages.test-kit.ts";
import type { SearchAnswer } from "./request.ts";
import { openSearcher, type RequestFields } from "./search.test-kit.ts";
import { fileTypeGlobs } from "./walk/file-types.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const base = join(folder, "base");
afterAll(() => rmSync(folder, { recursive: true, force: true }));

// Paths that sort in one way: ripgrep compares names, so that "c/a" precedes "c-d", and this worker compares
// bytes.
const paths = ["a.ts", "b.md", "c/a.ts", "c/d.py", "d/e.ts", "e", "f.json", "z/y/x.md"];
const content = fc
  .array(
    fc.tuple(
      fc.constantFrom(..."foo,foobar,foo-bar,_foo,Foo,bar,é,x1,, (x)".split(",")),
      fc.constantFrom(" ", "\n", "\n", "\r\n", ""),
    ),
    { maxLength: 30 },
  )
  .map((parts) => parts.flat().join(""));
const trees = fc.dictionary(fc.constantFrom(...paths), content, { minKeys: 1, maxKeys: 8 });

const patterns = fc.constantFrom(
  "foo",
  "bar",
  "x",
  "é",
  "fo+",
  "o\\b",
  "^foo",
  "x\\d?",
  "[a-f]+",
  "o|ba",
  "\\w+r",
);

interface Options {
  readonly patterns: readonly string[];
  readonly regex: boolean;
  readonly ignoreCase: boolean;
  readonly word: boolean;
  readonly invert: boolean;
  readonly maxFileBytes: number;
  readonly types: readonly string[];
  readonly otherTypes: readonly string[];
  readonly sort: "path" | "modified";
  /** The form of the results. */
  readonly shown: "lines" | "files" | "without" | "counts";
  /** The minutes before now at which each file was modified, in the order of the paths. */
  readonly ages: readonly number[];
  readonly threads: number | boolean;
  readonly pageSize: number;
}

const options: fc.Arbitrary<Options> = fc.record({
  patterns: fc.uniqueArray(patterns, { minLength: 1, maxLength: 3 }),
  regex: fc.boolean(),
  ignoreCase: fc.boolean(),
  word: fc.boolean(),
  invert: fc.boolean(),
  maxFileBytes: fc.constantFrom(1_000_000, 1_000_000, 40, 0),
  types: fc.subarray(["ts", "md"]),
  otherTypes: fc.subarray(["ts", "py"]),
  sort: fc.constantFrom("path", "modified"),
  shown: fc.constantFrom("lines", "files", "without", "counts"),
  ages: fc.shuffledSubarray([...paths.keys()], { minLength: paths.length }),
  threads: fc.constantFrom(false, false, false, 2),
  pageSize: fc.constantFrom(1, 3, 1000),
});

function flagsOf({
  patterns,
  regex,
  ignoreCase,
  word,
  invert,
  maxFileBytes,
  types,
  otherTypes,
  sort,
}: Options): string[] {
  return [
    ...[
      "--no-config",
      "--no-ignore",
      "--hidden",
      "--crlf",
      "--null",
      "--with-filename",
      "--no-heading",
      "--line-number",
    ],
    ...(regex ? [] : ["--fixed-strings"]),
    ...(ignoreCase ? ["--ignore-case"] : []),
    ...(word ? ["--word-regexp"] : []),
    ...(invert ? ["--invert-match"] : []),
    `--max-filesize=${maxFileBytes}`,
    ...types.map((type) => `--type=${type}`),
    ...otherTypes.map((type) => `--type-not=${type}`),
    sort === "path" ? "--sort=path" : "--sortr=modified",
    ...patterns.map((pattern) => `--regexp=${pattern}`),
  ];
}

function run(options: Options, ...flags: string[]): string {
  const { stdout, status, stderr } = spawnSync(ripgrep, [...flagsOf(options), ...flags, "."], { cwd: base });
  if (status === 2) throw new Error(stderr.toString());
  return stdout.toString().replace(/^\.\//gm, "").replaceAll("\0./", "\0");
}

/**
 * Returns the path and the number of each line, or the path and the count of each file. Both numbers follow a
 * NUL.
 */
const numbersIn = (printed: string): string[] =>
  [...printed.matchAll(/^([^\0\n]+)\0(\d+)/gm)].map(([, path, number]) => `${path} ${number}`);

function ripgrepSays(options: Options): string[] {
  const { shown } = options;
  if (shown === "lines") return numbersIn(run(options));
  if (shown !== "counts") {
    const flag = shown === "files" ? "--files-with-matches" : "--files-without-match";
    return run(options, flag).split("\0").filter(Boolean);
  }
  const matches = numbersIn(run(options, "--count-matches")).map((one) => one.split(" ") as [string, string]);
  const byPath = new Map(matches);
  return numbersIn(run(options, "--count")).map((one) => `${one} ${byPath.get(one.split(" ")[0]!)}`);
}

function requestOf(options: Options): RequestFields {
  const { patterns, types, otherTypes, shown, ages, threads, pageSize, ...same } = options;
  const [pattern, ...others] = patterns;
  return {
    ...same,
    pattern: pattern!,
    others,
    fileNames: fileTypeGlobs(types),
    otherFileNames: fileTypeGlobs(otherTypes),
    mode: shown === "lines" ? "content" : shown === "counts" ? "counts" : "files",
    withoutMatch: shown === "without",
    countsMatches: shown === "counts" && !options.invert,
    paths: false,
    findsBinaries: true,
  };
}

function said({ content_matches, files = [] }: SearchAnswer, { shown, invert }: Options): string[] {
  const counts = ({ count = 0, matches = 0 }) =>
    shown === "counts" ? ` ${count} ${invert ? count : matches}` : "";
  return [
    ...content_matches.map(({ path, line }) => `${path} ${line}`),
    ...files.map((file) => file.path + counts(file)),
  ];
}

test("what is found is what ripgrep finds, on all pages together", async () => {
  let found = 0;
  await fc.assert(
    fc.asyncProperty(trees, options, async (tree, options) => {
      addToTree(folder, { "base/": null });
      addToTree(base, tree);
      const now = Date.now() / 1000;
      for (const path of Object.keys(tree)) {
        const time = now - 60 * options.ages[paths.indexOf(path)]!;
        utimesSync(join(base, path), time, time);
      }
      const searcher = openSearcher(base, { backend: "openat", threads: options.threads });
      try {
        const all: string[] = [];
        for (
          let cursor: string | undefined, isFirst = true;
          isFirst || cursor !== undefined;
          isFirst = false
        ) {
          const page = pageFrom(cursor);
          const answer = await searcher.search({ ...requestOf(options), maxMatches: options.pageSize, page });
          all.push(...said(answer, options));
          cursor = answer.next_cursor;
        }
        const expected = ripgrepSays(options);
        expect(all).toEqual(expected);
        if (expected.length > 0) found++;
      } finally {
        await searcher.close();
        rmSync(base, { recursive: true, force: true });
      }
    }),
    propertyRuns(50),
  );
  expect(found).toBeGreaterThan(0);
}, 300_000);
