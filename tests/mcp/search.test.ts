/** Searches for models: the text of answers, and fields that requests may omit. */
import { afterAll, beforeAll, describe, expect, test } from "bun:test";
import { utimesSync } from "node:fs";
import { join } from "node:path";
import type { Tree } from "../harness/tree.ts";
import { connectStdio, type McpFixture, textOf } from "./client.ts";

type Answers = readonly (readonly [args: Record<string, unknown>, text: string])[];

/** Serves a folder for all cases of a group. */
function serve(tree: Tree, config: Readonly<Record<string, unknown>> = {}) {
  let connected: McpFixture;
  beforeAll(async () => {
    connected = await connectStdio("executable", { tree, config });
  });
  afterAll(() => connected[Symbol.asyncDispose]());
  return {
    answers: (cases: Answers) =>
      test.each(cases)("%j", async (args, text) => {
        const result = await connected.call("coder_search", args);
        expect(textOf(result).replace(/(?<="cursor": ")[\w-]+/, "…")).toBe(text);
        expect(result.isError).toBeUndefined();
        expect(result.structuredContent).toBeUndefined();
      }),
    refuses: (cases: Answers) =>
      test.each(cases)("%j is refused", async (args, text) => {
        const result = await connected.call("coder_search", args);
        expect(textOf(result)).toContain(text);
        expect(result.isError).toBe(true);
      }),
  };
}

describe("matches", () => {
  const { answers } = serve({
    "src/a.ts": "one\ntwo\nthree\nfour\ntwo\n",
    "src/b.ts": "two\n",
    "two.md": "x two\r\ny\n",
    "long.js": `${"x".repeat(1000)}needle${"y".repeat(1000)}\n${"z".repeat(300)}\n`,
    "twice.js": `needle${"-".repeat(1000)}needle\n`,
  });
  answers([
    [{ query: "two" }, "src/a.ts\n2→two\n5→two\n\nsrc/b.ts\n1→two\n\ntwo.md\n1→x two"],
    [
      { query: "two", path: "src/a.ts", context_lines_before: 1, context_lines_after: 1 },
      "src/a.ts\n1-one\n2→two\n3-three\n4-four\n5→two",
    ],
    [{ query: "two\nth", multiline: true }, "src/a.ts\n2→two\n3→three"],
    [{ query: "two", mode: "files" }, "src/a.ts\nsrc/b.ts\ntwo.md"],
    [{ query: "two", search_paths: true, path: "two.md" }, "two.md\n1→x two\n\n[paths that match]\ntwo.md"],
    [{ query: "needle", path: "long.js" }, `long.js\n1→…${"x".repeat(64)}needle${"y".repeat(186)}…`],
    [{ query: "needle", path: "long.js", max_line_bytes: 16 }, "long.js\n1→…xxxxneedleyyyyyy…"],
    [
      { query: "needle", path: "twice.js", max_line_bytes: 8, every_match: true },
      "twice.js\n1→needle--…\n1→…--needle",
    ],
    [
      { query: "needle", path: "long.js", max_line_bytes: 8, context_lines_after: 1 },
      "long.js\n1→…xxneedle…\n2-zzzzzzzz…",
    ],
    [
      { query: "two", max_matches: 1 },
      'src/a.ts\n2→two\n[stopped by max_matches; go on with the same call and "cursor": "…"]',
    ],
  ]);
});

test("pages show each line once, and each match as one", async () => {
  await using connected = await connectStdio("executable", { tree: { a: "1\nx\n3\nx\nx\n6\n7\n" } });
  const query = { query: "x", context_lines_before: 2, context_lines_after: 2, max_matches: 1 };
  const pages: string[] = [];
  for (let cursor: string | undefined; pages.length === 0 || cursor !== undefined; ) {
    const page = textOf(await connected.call("coder_search", { ...query, ...(cursor && { cursor }) }));
    pages.push(page.replace(/\n\[stopped.*/, ""));
    cursor = /"cursor": "([\w-]+)"/.exec(page)?.[1];
  }
  expect(pages).toEqual(["a\n1-1\n2→x\n3-3", "a\n4→x", "a\n5→x\n6-6\n7-7"]);
});

describe("what is not searched", () => {
  const { answers } = serve(
    {
      "a.txt": "two\n",
      "bin/small": "one\0",
      "bin/with-match": "two\0",
      "node_modules/m/index.js": "two",
      "dist/x": "two",
      "p/dist/x": "two",
      "p/target/x": "two",
      ".gitignore": "*.log\nbuild/\n",
      "a.log": "two",
      "b.log": "two",
      "build/x": "two",
      "c.log": "two",
      "p/d.log": "two",
      ".env": "two",
      "secrets/a": "two",
      ".hidden/h": "two\n",
      "large.txt": "two\n".repeat(100),
    },
    { max_read_bytes: 300 },
  );
  const overRead =
    "(over 300 bytes, the max_read_bytes of the configuration; coder_read_file reads parts, with line_from and line_to)";
  const always = ".hidden/h\n1→two\n\na.txt\n1→two\n";
  answers([
    [
      { query: "two" },
      `${always}[not searched: dist/, node_modules/, p/dist/ and 1 more excluded (use_default_excludes: false), a.log, b.log, build/ and 2 more ignored (respect_gitignore: false), 2 denied, 2 binary, 1 too large ${overRead}]`,
    ],
    [
      { query: "two", include_hidden: false, respect_gitignore: false, path: "bin" },
      "[nothing found: no file was searched]\n[not searched: 2 binary]",
    ],
    [
      {
        query: "two",
        include_globs: ["*.txt"],
        include_hidden: false,
        use_default_excludes: false,
        respect_gitignore: false,
      },
      `a.txt\n1→two\n[not searched: 1 too large ${overRead}]`,
    ],
    [
      { query: "two", path: "large.txt", max_file_bytes: 1000 },
      `[nothing found: no file was searched]\n[not searched: 1 too large ${overRead.replace(";", ", which max_file_bytes cannot exceed;")}]`,
    ],
    [
      { query: "two", path: "large.txt", max_file_bytes: 5 },
      "[nothing found: no file was searched]\n[not searched: 1 too large (over 5 bytes, the max_file_bytes of this call; send a larger one)]",
    ],
    [{ query: "one", path: "a.txt", max_file_bytes: 4 }, "[nothing found in 1 file]"],
    [
      { query: "two", path: "p", use_default_excludes: false },
      "p/dist/x\n1→two\n\np/target/x\n1→two\n[not searched: p/d.log ignored (respect_gitignore: false)]",
    ],
    // Skipped files that sort after the page are named on the next one.
    [
      { query: "two", max_matches: 1 },
      '.hidden/h\n1→two\n[not searched: a.log ignored (respect_gitignore: false), 1 denied]\n[stopped by max_matches; go on with the same call and "cursor": "…"]',
    ],
    // A file named by `path` is searched even if it would be skipped in its folder.
    [{ query: "two", path: "a.log" }, "a.log\n1→two"],
    [
      { query: "two", path: "dist/x", include_globs: ["*.md"], file_types: ["py"] },
      'dist/x\n1→two\n["include_globs" and "file_types" select in folders only, and "path" is a file]',
    ],
  ]);
});

describe("paths", () => {
  const { answers, refuses } = serve({
    "a.ts": "",
    "b.md": "two",
    ".dot/c.ts": "",
    "d/.e.ts": "",
    "d/f.ts": "two",
    "node_modules/g.ts": "",
    ".env": "",
    l: { link: "d/f.ts" },
    k: { link: "d" },
  });
  const noted = "\n[not searched: node_modules/ excluded (use_default_excludes: false), 1 denied]";
  answers([
    [{ query: "", search_content: false }, `.dot/c.ts\na.ts\nb.md\nd/.e.ts\nd/f.ts${noted}`],
    [{ query: "", search_content: false, file_types: ["md"] }, `b.md${noted.replace(", 1 denied", "")}`],
    [
      { query: "", search_content: false, include_hidden: false },
      `a.ts\nb.md\nd/f.ts${noted.replace(", 1 denied", "")}`,
    ],
    [{ query: "", search_content: false, regex: true, path: "d" }, "d/.e.ts\nd/f.ts"],
    [
      { query: "", search_content: false, fuzzy_paths: true, path: "d", search_paths: true },
      "d/.e.ts\nd/f.ts",
    ],
    [{ query: "f.t", search_content: false }, `d/f.ts${noted}`],
    [{ query: "two", path: "d/f.ts" }, "d/f.ts\n1→two"],
    [{ query: "dfts", fuzzy_paths: true }, `[paths that match]\nd/f.ts${noted}`],
    [{ query: "two", path: "l" }, "d/f.ts\n1→two"],
    [{ query: "two", path: "k" }, "d/f.ts\n1→two"],
    [{ query: "12", path: "d/f.ts" }, "[nothing found in 1 file]"],
    [{ query: "f.ts", path: "d/f.ts", search_paths: true }, "[paths that match]\nd/f.ts"],
  ]);
  refuses([
    [{ query: "" }, "C210 invalid_argument: The field `query` is empty. "],
    [{ query: "", search_paths: true }, "C210 invalid_argument: The field `query` is empty. "],
    [{ query: "two", path: "none" }, "C211 no_such_path: "],
    [{ query: "two", path: ".env" }, "C211 "],
    [{ query: "two", path: "d/f.ts/x" }, "C211 no_such_path: "],
    [
      { query: "two", search_content: false, search_paths: false },
      "C210 invalid_argument: Both search_content",
    ],
  ]);
});

describe("globs as people write them", () => {
  const { answers, refuses } = serve({
    "a.ts": "two\n",
    "src/b.ts": "two\n",
    "src/b.test.ts": "two\n",
    "src/lib/c.js": "two\n",
    "test/d.ts": "two\n",
    "lib/test/e.ts": "two\n",
    "lib/f": "two\n",
  });
  const list = (args: Record<string, unknown>) => ({ query: "two", mode: "files", ...args });
  const named = (...globs: string[]) => `\n[matched nothing: ${globs.join(", ")}]`;
  answers([
    [list({ include_globs: ["*.ts"], exclude_globs: ["test"] }), "a.ts\nsrc/b.test.ts\nsrc/b.ts"],
    [list({ exclude_globs: ["test/", "src"] }), "a.ts\nlib/f"],
    [list({ include_globs: ["./src/**"] }), "src/b.test.ts\nsrc/b.ts\nsrc/lib/c.js"],
    [list({ exclude_globs: ["./test/**", "/src/**"] }), "a.ts\nlib/f\nlib/test/e.ts"],
    [list({ include_globs: ["/*.ts"] }), "a.ts"],
    [list({ include_globs: ["*.ts", "!*.test.ts"] }), "a.ts\nlib/test/e.ts\nsrc/b.ts\ntest/d.ts"],
    [list({ include_globs: ["!*.ts"] }), "lib/f\nsrc/lib/c.js"],
    [list({ exclude_globs: ["*.ts", "!b.ts"] }), "lib/f\nsrc/b.ts\nsrc/lib/c.js"],
    [
      list({ include_globs: ["src/**/*.{js,ts}"], exclude_globs: [""] }),
      "src/b.test.ts\nsrc/b.ts\nsrc/lib/c.js",
    ],
    [
      list({ include_globs: ["/lib/*.ts"], path: "src" }),
      `[nothing found: no file matches the path, globs and file types]${named('include_globs "/lib/*.ts"')}`,
    ],
    [
      list({ include_globs: ["lib/f", "*.py"], exclude_globs: ["disk", "!x"] }),
      `lib/f${named('include_globs "*.py"', 'exclude_globs "disk"', 'exclude_globs "!x"')}`,
    ],
    [
      list({ include_globs: ["src/"] }),
      `[nothing found: no file matches the path, globs and file types]${named('include_globs "src/" but folders ("src/**" is what is in them)')}`,
    ],
    [
      list({ include_globs: ["lib/f", "src\\**\\*.ts"], exclude_globs: ["C:\\lib\\*.ts", "lib\\[f"] }),
      `lib/f${named(
        'include_globs "src\\\\**\\\\*.ts" (a backslash escapes what follows it; "src/**/*.ts" has "/" between names)',
        'exclude_globs "C:\\\\lib\\\\*.ts" (globs are relative to the base folder, with "/" between names)',
        'exclude_globs "lib\\\\[f"',
      )}`,
    ],
    // Later pages may have files that match these globs.
    [
      list({ include_globs: ["*.ts", "*.py"], max_matches: 1 }),
      'a.ts\n[stopped by max_matches; go on with the same call and "cursor": "…"]',
    ],
  ]);
  refuses([
    [
      list({ exclude_globs: ["!*.ts"] }),
      'The glob "!*.ts" in `exclude_globs` takes back what globs before it exclude',
    ],
    [
      list({ include_globs: ["[a"] }),
      '`include_globs` holds a bad glob: The glob "[a" has a "[" that is never closed',
    ],
    [list({ exclude_globs: ["!"] }), "names nothing"],
    [list({ include_globs: ["x".repeat(5000)] }), "4096 characters"],
  ]);
});

describe("options", () => {
  const { answers, refuses } = serve({
    "a.ts": "total subtotal\nx\ntotal total\n",
    "b.md": "sum\ntotal\n",
    "c.py": "x\ny\n",
    empty: "",
    bin: "x\0",
    "z/d.ts": `${"total\n".repeat(40)}`,
  });
  answers([
    [
      { query: "total", mode: "counts", max_file_bytes: 200 },
      "a.ts: 2 lines, 4 matches\nb.md: 1 line, 1 match\n[3 lines, 5 matches in 2 files]\n[not searched: 1 binary, 1 too large (over 200 bytes, the max_file_bytes of this call; send a larger one)]",
    ],
    [
      { query: "total", whole_word: true, mode: "counts", every_match: true, path: "a.ts" },
      "a.ts: 2 lines, 3 matches",
    ],
    [{ query: "total", invert: true, path: "a.ts" }, "a.ts\n2→x"],
    [{ query: "total", invert: true, path: "a.ts", mode: "counts" }, "a.ts: 1 line"],
    [
      { query: "x", patterns: ["sum", "y"] },
      "a.ts\n2→x\n\nb.md\n1→sum\n\nc.py\n1→x\n2→y\n[not searched: 1 binary]",
    ],
    [{ patterns: ["sum", "^y"], regex: true }, "b.md\n1→sum\n\nc.py\n2→y\n[not searched: 1 binary]"],
    [{ query: "", patterns: ["b.m", "c.p"], search_content: false }, "b.md\nc.py"],
    [{ query: "total", files_without_match: true, mode: "content" }, "c.py\nempty\n[not searched: 1 binary]"],
    [{ query: "total", exclude_file_types: ["ts", "py"], mode: "files" }, "b.md\n[not searched: 1 binary]"],
    [
      { query: "total", file_types: ["ts"], exclude_file_types: ["ts"] },
      "[nothing found: no file matches the path, globs and file types]",
    ],
    [{ search_content: false, file_types: ["ts"] }, "a.ts\nz/d.ts"],
  ]);
  refuses([
    [
      { query: "x", invert: true, multiline: true },
      "C210 invalid_argument: The fields `invert` and `multiline` are both true.",
    ],
    [{ query: "x", patterns: [""] }, "C210 invalid_argument: The field `patterns` holds an empty text"],
    [{ query: "a)", patterns: ["(b"], regex: true }, "C210 invalid_pattern: "],
    [{ query: "x", exclude_file_types: ["cobalt"] }, 'The file type "cobalt" is unknown'],
    [{ query: "x", sort: "size" }, "sort"],
    [{ patterns: [] }, "query"],
  ]);
});

test("sort modified lists what was modified last first, in pages too", async () => {
  await using connected = await connectStdio("executable", {
    tree: { "a/b": "x\n", c: "x\n", d: "y\n", "e/f/g": "x\n" },
  });
  const minutesAgo = { "a/b": 2, c: 3, d: 0, "e/f/g": 1 };
  for (const [path, minutes] of Object.entries(minutesAgo)) {
    const time = Date.now() / 1000 - 60 * minutes;
    utimesSync(join(connected.base, path), time, time);
  }
  const search = async (args: Record<string, unknown>) =>
    textOf(await connected.call("coder_search", { sort: "modified", ...args }));
  expect(await search({ query: "x", mode: "files" })).toBe("e/f/g\na/b\nc");
  expect(await search({ search_content: false })).toBe("d\ne/f/g\na/b\nc");
  const first = await search({ query: "x", mode: "files", max_matches: 2 });
  expect(first).toStartWith("e/f/g\na/b\n[stopped by max_matches; go on with the same call");
  const cursor = /"cursor": "([\w-]+)"/.exec(first)?.[1];
  expect(await search({ query: "x", mode: "files", cursor })).toBe("c");
});

describe("what could match otherwise", () => {
  const { answers } = serve({ "a.txt": "one\ntwo\n" });
  answers([
    [{ query: "Two" }, '[nothing found in 1 file; "ignore_case": true would ignore case]'],
    [{ query: "o.*e" }, '[nothing found in 1 file; "regex": true would read it as a pattern]'],
    [
      { query: "one\ntwo", ignore_case: true },
      '[nothing found in 1 file; "multiline": true would match across lines]',
    ],
    [
      { query: "a.txt", ignore_case: true },
      '[nothing found in 1 file; "search_paths": true would search paths too]',
    ],
    [{ query: "12" }, "[nothing found in 1 file]"],
    [{ query: "Two", mode: "files", path: "a.txt", ignore_case: true }, "a.txt"],
  ]);
});
