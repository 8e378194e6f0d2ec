import { expect } from "bun:test";
import type { Tree } from "../../harness/tree.ts";
import { FsCases } from "../fixture.ts";

const words: Tree = { f: "alpha\nbeta\nalpha-beta\n" };
const five: Tree = { f: "x\nx\nx\nx\nx\n" };
const mixed: Tree = { "a.txt": "x\n", "b.log": "x\n", "sub/c.txt": "x\n" };

/** Adds a grep in `tree` that finds the lines `names`, each as `name:line`. */
const found = (cases: FsCases, number: number, [tree, payload]: readonly [Tree, object], names: string[]) =>
  cases.scriptOn(number, `grep ${JSON.stringify(payload)}`, tree, async ({ answer, folder }) => {
    const { matches } = await answer("grep", { path: "<base>", pattern: "x", ...payload });
    const lines = (matches as { path: string; line: number }[]).map(({ path, line }) => `${path}:${line}`);
    expect(lines).toEqual(names.map((name) => `${folder}/${name}`));
  });

/** Adds a sed in a file with one line. */
const replaces = (
  cases: FsCases,
  number: number,
  [text, fields]: readonly [string, object],
  [total, after]: readonly [number, string],
) =>
  cases.answersOn(
    `${number} sed`,
    [{ f: text }, { files: ["<base>/f"], ...fields }],
    { total_replacements: total },
    (fixture) => {
      expect(fixture.text("f")).toBe(after);
    },
  );

const cases_ = new FsCases()
  .answersOn("136 grep", [words, { path: "<base>/f", pattern: "alpha" }], {
    matches: [
      { line: 1, content: "alpha" },
      { line: 3, content: "alpha-beta" },
    ],
    truncated: false,
  })
  .refusesOn("137 grep", [words, { path: "<base>", pattern: "x", recursive: false }], "S210")
  .refusesOn("138 grep", [words, { path: "<base>", pattern: "[unclosed" }], "S217")
  .refusesOn("138 grep", [{}, { path: "<base>", pattern: "[unclosed" }], "S217")
  .refusesOn("138 sed", [{}, { path: "<base>", pattern: "[unclosed", replacement: "x" }], "S217")
  .answersOn("139 grep", [five, { path: "<base>", pattern: "x", max_matches: 2 }], {
    matches: [{ line: 1 }, { line: 2 }],
    truncated: true,
  })
  .answersOn("140 grep", [{ f: "x\nx\n" }, { path: "<base>", pattern: "x", max_matches: 2 }], {
    truncated: true,
  })
  .answersOn(
    "144 grep",
    [{ f: `${"世".repeat(30)}\n` }, { path: "<base>", pattern: "世", max_line_bytes: 50 }],
    {
      matches: [{ content: `${"世".repeat(16)}…` }],
    },
  )
  .answersOn("145 grep", [{ f: "a\r\n" }, { path: "<base>", pattern: "a$" }], { matches: [{ content: "a" }] })
  .answersOn("146 grep", [words, { path: "<base>", pattern: "ALPHA", ignore_case: true }], {
    matches: [{ line: 1 }, { line: 3 }],
  })
  .answersOn("147 grep", [{ "sub/f": `${"x".repeat(5000)}\n` }, { path: "<base>", pattern: "x" }], {
    matches: [{ content: `${"x".repeat(4096)}…` }],
    truncated: false,
  })
  .refusesOn("153 sed", [{}, { pattern: "x", replacement: "y" }], "S210")
  .refusesOn(
    "153 sed",
    [{ f: "x" }, { files: ["<base>/f"], path: "<base>", pattern: "x", replacement: "y" }],
    "S210",
  )
  .refusesOn(
    "154 sed",
    [{ f: "x" }, { path: "<base>", recursive: false, pattern: "x", replacement: "y" }],
    "S210",
  )
  .refusesOn(
    "156 sed",
    [{ f: "x" }, { files: ["<base>/f"], regex: false, pattern: "", replacement: "y" }],
    "S210",
  )
  .scriptOn(157, "a bad pattern touches no file", { f: "x" }, async ({ refused, text }) => {
    await refused("sed", { files: ["<base>/f"], pattern: "(", replacement: "y" }, "S217");
    expect(text("f")).toBe("x");
  })
  .answersOn(
    "158 sed",
    [{ f: "x" }, { files: ["<base>/f", "<base>/missing"], pattern: "x", replacement: "y" }],
    {
      results: [
        { success: true, replacements: 1 },
        { success: false, replacements: 0, error: expect.stringContaining("path not found") },
      ],
    },
  )
  .scriptOn(159, "a denied path in the list touches no file", { f: "x" }, async ({ refused, text }) => {
    await refused("sed", { files: ["<base>/f", "/etc/passwd"], pattern: "x", replacement: "y" }, "S215");
    expect(text("f")).toBe("x");
  })
  .scriptOn(
    160,
    "a tree and globs",
    { "a.rs": "x", "s/b.rs": "x", "s/c.rs": "x", "ignore.rs": "x", "d.txt": "x" },
    async ({ answer, text }) => {
      const globs = { include_glob: ["*.rs"], exclude_glob: ["ignore*"] };
      const answered = await answer("sed", { path: "<base>", ...globs, pattern: "x", replacement: "y" });
      expect(answered).toMatchObject({ total_replacements: 3, results: { length: 3 } });
      expect([text("a.rs"), text("s/b.rs"), text("ignore.rs"), text("d.txt")]).toEqual(["y", "y", "x", "x"]);
    },
  )
  .answersOn(
    "161 sed",
    [{ f: Buffer.from([0x78, 0xff]) }, { files: ["<base>/f"], pattern: "x", replacement: "y" }],
    {
      results: [{ success: false, replacements: 0 }],
    },
  )
  .answersOn(
    "162 sed",
    [{ f: { mode: 0o600, text: "x" } }, { files: ["<base>/f"], pattern: "x", replacement: "y" }],
    {},
    ({ mode, text }) => {
      expect([mode("f"), text("f")]).toEqual([0o600, "y"]);
    },
  );

found(cases_, 141, [{ a: "x\0\n", b: "x\n", c: `${"y".repeat(9000)}\nx\0\n` }, {}], ["b:1", "c:2"]);
found(cases_, 142, [mixed, { include_glob: ["*.txt"] }], ["a.txt:1", "sub/c.txt:1"]);
found(cases_, 142, [mixed, { exclude_glob: ["*.log"] }], ["a.txt:1", "sub/c.txt:1"]);

const globs: Tree = { "src/a.rs": "x", "src/x/b.rs": "x", "target/c": "x", "é.txt": "x", ".hidden": "x" };
found(cases_, 143, [globs, { include_glob: ["*.rs"] }], ["src/a.rs:1", "src/x/b.rs:1"]);
found(cases_, 143, [globs, { include_glob: ["**/*.rs"] }], ["src/a.rs:1", "src/x/b.rs:1"]);
found(cases_, 143, [globs, { include_glob: ["src/*.rs"] }], ["src/a.rs:1"]);
found(cases_, 143, [globs, { include_glob: ["target/**"] }], ["target/c:1"]);
found(cases_, 143, [globs, { include_glob: ["src/**/b.rs"] }], ["src/x/b.rs:1"]);
found(cases_, 143, [globs, { include_glob: ["?.txt"] }], []);
found(cases_, 143, [globs, { include_glob: ["??.txt"] }], ["é.txt:1"]);
found(cases_, 143, [globs, { include_glob: ["*"], exclude_glob: ["*.*"] }], ["target/c:1"]);

const literal = { regex: false };
replaces(
  cases_,
  148,
  ["hello world hello", { ...literal, pattern: "hello", replacement: "HI" }],
  [2, "HI world HI"],
);
replaces(cases_, 149, ["x x x", { first_only: true, pattern: "x", replacement: "Y" }], [1, "Y x x"]);
replaces(
  cases_,
  150,
  ["x x\nx x\n", { first_only: true, pattern: "x", replacement: "Y" }],
  [2, "Y x\nY x\n"],
);
replaces(
  cases_,
  151,
  ["Alice loves Bob", { pattern: "(\\w+) loves (\\w+)", replacement: "$2 then $1" }],
  [1, "Bob then Alice"],
);
replaces(cases_, 152, ["a", { pattern: "(a)", replacement: "$1x" }], [1, ""]);
replaces(cases_, 152, ["a", { pattern: "(a)", replacement: "${1}x" }], [1, "ax"]);
replaces(cases_, 155, ["abc", { pattern: "a.c", replacement: "y" }], [1, "y"]);
replaces(cases_, 163, ["foo\n", { pattern: "foo$", replacement: "y" }], [0, "foo\n"]);

const strict = new FsCases({ fs: { host_root: null, allow_unjailed: true, refuse_undefined_groups: true } })
  .scriptOn(152, "a group that is not there touches no file", { f: "a" }, async ({ refused, text }) => {
    const payload = { files: ["<base>/f"], pattern: "(?<name>a)", replacement: "$1x" };
    await refused("sed", payload, "S217", "$1x", "${0}, ${name}");
    expect(text("f")).toBe("a");
  })
  .answersOn(
    "152 sed",
    [{ f: "a" }, { files: ["<base>/f"], pattern: "(a)", replacement: "${1}$$9$" }],
    { total_replacements: 1 },
    (fixture) => {
      expect(fixture.text("f")).toBe("a$9$");
    },
  )
  .answersOn(
    "152 sed",
    [{ f: "a" }, { files: ["<base>/f"], pattern: "a", replacement: "$9", regex: false }],
    { total_replacements: 1 },
    (fixture) => {
      expect(fixture.text("f")).toBe("$9");
    },
  );

export const cases = [...cases_.all, ...strict.all];
