import { afterEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import { mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addToTree, type Tree } from "../../tests/harness/tree.ts";
import { Refusal } from "../base/errors.ts";
import { countDescriptorsBelow } from "../filesystem/jail/jail.test-kit.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import type { SearchAnswer } from "./request.ts";
import { openSearcher, type RequestFields, type RunSearch, type SearchFixture } from "./search.test-kit.ts";

const cleaners: (() => unknown)[] = [];

afterEach(async () => {
  for (const clean of cleaners.splice(0).reverse()) await clean();
});

function makeTree(tree: Tree): string {
  const base = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  cleaners.push(() => rmSync(base, { recursive: true, force: true }));
  addToTree(base, tree);
  return base;
}

const withThreads: SearchFixture = { backend: "openat", threads: true };

function openAsk(base: string, setting: SearchFixture = withThreads): RunSearch {
  const { search: ask, close } = openSearcher(base, { ...setting, deny: ["**/.env", "**/secrets/**"] });
  cleaners.push(close);
  return ask;
}

const places = ({ content_matches }: SearchAnswer) =>
  content_matches.map(({ path, line, column }) => `${path}:${line}:${column}`);
const paths = ({ path_matches }: SearchAnswer) => path_matches.map(({ path }) => path);

const settings: SearchFixture[] = [
  withThreads,
  { backend: "descriptors", threads: true },
  { backend: "openat", threads: false },
  { backend: "current-directory", threads: true },
];

describe.each(settings)("search on $backend, threads $threads", (setting) => {
  test("a literal and a pattern: the first match of each line, and paths", async () => {
    const ask = openAsk(makeTree({ "foo.txt": "bar\r\na foo foo\nfoo", "sub/b.txt": "no\n" }), setting);
    const answer: SearchAnswer = {
      content_matches: [
        { path: "foo.txt", line: 2, column: 3, text: "a foo foo" },
        { path: "foo.txt", line: 3, column: 1, text: "foo" },
      ],
      path_matches: [{ path: "foo.txt" }],
      truncated: false,
    };
    expect(await ask({ pattern: "foo" })).toEqual(answer);
    expect(await ask({ pattern: "fo{2}", regex: true })).toEqual(answer);
    expect(await ask({ pattern: "FOO", ignoreCase: true })).toEqual(answer);
  });

  test("in the order of path bytes", async () => {
    const names = [
      "a-b",
      "a.txt",
      "a/b/c",
      "a/b.c",
      "a0",
      "B",
      "é",
      "a/\u{10000}",
      "a/\uffee",
      "a b/x",
      "z/a",
      "z.a",
    ];
    const ask = openAsk(makeTree(Object.fromEntries(names.map((name) => [name, "x"]))), setting);
    const sorted = [...names].sort((one, other) => Buffer.compare(Buffer.from(one), Buffer.from(other)));
    expect(paths(await ask({ pattern: "", regex: true }))).toEqual(sorted);
    expect(places(await ask({ pattern: "x" }))).toEqual(sorted.map((name) => `${name}:1:1`));
  });

  test("regular files that are not denied, and below the folder asked for", async () => {
    const base = makeTree({
      ".env": "x",
      "secrets/x": "x",
      "a/.env": "x",
      "a/secrets/b": "x",
      "a/x": "x",
      "b/x": "x",
    });
    symlinkSync("a/x", join(base, "x-link"));
    symlinkSync("a", join(base, "x-folder"));
    execFileSync("mkfifo", [join(base, "a/x-fifo")]);
    const ask = openAsk(base, setting);
    const everything = await ask({ pattern: "x" });
    expect([places(everything), paths(everything)]).toEqual([
      ["a/x:1:1", "b/x:1:1"],
      ["a/x", "b/x"],
    ]);
    expect(places(await ask({ pattern: "x", path: "b" }))).toEqual(["b/x:1:1"]);
    expect(places(await ask({ pattern: "x", path: "x-folder" }))).toEqual(["a/x:1:1"]);
    await expect(ask({ pattern: "x", path: "a/x" })).rejects.toThrow("is not a folder");
    await expect(ask({ pattern: "x", path: ".." })).rejects.toThrow(Refusal);
  });

  test("names that are not UTF-8", async () => {
    const base = makeTree({ "a.txt": "x" });
    writeFileSync(Buffer.concat([Buffer.from(`${base}/z`), Buffer.from([0xff])]), "needle");
    const answer = await openAsk(base, setting)({ pattern: "needle|z.", regex: true });
    expect([places(answer), paths(answer)]).toEqual([["z\ufffd:1:1"], ["z\ufffd"]]);
  });

  test("no contents of files that are too large or no text; their paths all the same", async () => {
    const large = Buffer.alloc(300, "needle ");
    const ask = openAsk(
      makeTree({ "x-binary": "needle\0", "x-fits": large.subarray(1), "x-large": large }),
      setting,
    );
    const answer = await ask({ pattern: "needle|x", regex: true, maxFileBytes: 299 });
    expect(places(answer)).toEqual(["x-fits:1:7"]);
    expect(paths(answer)).toEqual(["x-binary", "x-fits", "x-large"]);
  });

  test("includes, then excludes, on the path from the base", async () => {
    const ask = openAsk(makeTree({ "a/b.ts": "x", "a/b.js": "x", "a/c.ts": "x", "d.ts": "x" }), setting);
    const include = compileGlobSet(["a/**"]);
    const exclude = compileGlobSet(["**/c.*"]);
    expect(places(await ask({ pattern: "x", include }))).toEqual(["a/b.js:1:1", "a/b.ts:1:1", "a/c.ts:1:1"]);
    expect(places(await ask({ pattern: "x", include, exclude, path: "a" }))).toEqual([
      "a/b.js:1:1",
      "a/b.ts:1:1",
    ]);
    expect(places(await ask({ pattern: "x", exclude }))).toEqual(["a/b.js:1:1", "a/b.ts:1:1", "d.ts:1:1"]);
  });

  test("only contents, only paths", async () => {
    const ask = openAsk(makeTree({ x: "x" }), setting);
    const match = { path: "x" };
    expect(await ask({ pattern: "x", paths: false })).toMatchObject({
      content_matches: [match],
      path_matches: [],
    });
    expect(await ask({ pattern: "x", content: false })).toMatchObject({
      content_matches: [],
      path_matches: [match],
    });
  });

  test.each(["x", "x|y{5}"])("truncated only when a match of %s was left out", async (pattern) => {
    const tree = { "a-x": "x\nx\n", "b-x": "x\n", c: "x\n" };
    const ask = openAsk(makeTree(tree), setting);
    const counts = async (requested: RequestFields) => {
      const { content_matches, path_matches, truncated } = await ask({
        pattern,
        regex: pattern !== "x",
        ...requested,
      });
      return [content_matches.length, path_matches.length, truncated];
    };
    expect(await counts({ maxMatches: 4 })).toEqual([4, 2, false]);
    expect(await counts({ maxMatches: 3 })).toEqual([3, 2, true]);
    expect(await counts({ maxMatches: 1 })).toEqual([1, 1, true]);
    expect(await counts({ maxMatches: 0 })).toEqual([0, 0, true]);
    expect(await counts({ maxMatches: 2, content: false })).toEqual([0, 2, false]);
    expect(await counts({ maxMatches: 1, content: false })).toEqual([0, 1, true]);
    expect(await counts({ pattern: "nowhere", maxMatches: 0 })).toEqual([0, 0, false]);
  });

  test("no more bytes than one message carries", async () => {
    const line = `needle "${"é".repeat(100)}`;
    const ask = openAsk(makeTree({ a: `${line}\n`.repeat(50), needle: line }), setting);
    const whole = await ask({ pattern: "needle", regex: true });
    const size = Buffer.byteLength(JSON.stringify(whole));
    expect(whole.content_matches).toHaveLength(51);
    expect(await ask({ pattern: "needle", regex: true, maxAnswerBytes: size + 10 })).toEqual(whole);
    for (const maxAnswerBytes of [size - 30, 5000, 300, 100]) {
      const cut = await ask({ pattern: "needle", regex: true, maxAnswerBytes });
      expect(Buffer.byteLength(JSON.stringify(cut))).toBeLessThanOrEqual(maxAnswerBytes);
      expect(cut.truncated).toBe(true);
      expect(whole.content_matches.slice(0, cut.content_matches.length)).toEqual([...cut.content_matches]);
    }
  });

  test("an invalid pattern is refused in the engine's words", async () => {
    const ask = openAsk(makeTree({ a: "x" }), setting);
    await expect(ask({ pattern: "(?<=a)x", regex: true })).rejects.toThrow("look-around");
  });

  test.each([
    ["an empty folder", {}, {}],
    ["paths alone", {}, { content: false }],
    ["globs that leave nothing", { a: "x" }, { exclude: { matches: () => true } }],
    ["a literal that is too long", {}, { pattern: "x".repeat(40_000), regex: false, ignoreCase: true }],
  ])("an invalid pattern is refused where nothing is searched: %s", async (_, tree: Tree, requested) => {
    const ask = openAsk(makeTree(tree), setting);
    await expect(ask({ pattern: "(", regex: true, ...requested })).rejects.toMatchObject({
      reason: "bad-pattern",
    });
  });

  test("past the deadline there is an answer", async () => {
    const ask = openAsk(makeTree({ a: "x", b: "x" }), setting);
    expect(await ask({ pattern: "x" }, 0)).toEqual({
      content_matches: [],
      path_matches: [],
      truncated: true,
    });
  });

  test("a pattern that takes too long is ended, and the next search works", async () => {
    const ask = openAsk(
      makeTree({ "a.txt": "x", "b.txt": Buffer.alloc(1_000_000, "ab".repeat(2000).concat("\n")) }),
      setting,
    );
    const query = "x|(?:a|b|ab|ba){1,20000}c|[ab]{1,20000}d";
    // Compiling takes some tenths of a second, and one line minutes.
    expect(await ask({ pattern: query, regex: true, paths: false }, 1500)).toMatchObject({ truncated: true });
    expect(places(await ask({ pattern: "x", regex: true, paths: false }))).toEqual(["a.txt:1:1"]);
  });
});

test("no folder stays open, however a search ends", async () => {
  const tree = Object.fromEntries(Array.from({ length: 300 }, (_, i) => [`d${i % 60}/e/f${i}`, "needle\n"]));
  const base = makeTree(tree);
  const ask = openAsk(base);
  await ask({ pattern: "needle", regex: true });
  const before = countDescriptorsBelow(base);
  for (let i = 0; i < 20; i++) {
    await ask({ pattern: "needle", regex: true, maxMatches: i });
    await ask({ pattern: "needle|x" });
    await ask({ pattern: "needle", regex: true }, i % 5);
    await ask({ pattern: "(", regex: true }).catch(() => undefined);
  }
  // A thread may still be busy with a finished search. It answers batches in order.
  for (let searches = 0; searches < 1000 && countDescriptorsBelow(base) !== before; searches++)
    await ask({ pattern: "needle", regex: true });
  expect(countDescriptorsBelow(base)).toBe(before);
});
