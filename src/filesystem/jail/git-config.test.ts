import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { pathsIn, readSmall, variablesIn } from "./git-config.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));
const file = join(root, "config");

/** Returns the variables that git itself reads, or `undefined` if it refuses the file. */
function variablesByGit(text: string): [string, string][] | undefined {
  writeFileSync(file, text);
  const { status, stdout } = spawnSync("git", ["config", "--null", "--list", "--file", file], {
    env: { PATH: process.env["PATH"], GIT_CONFIG_NOSYSTEM: "1", HOME: root },
    encoding: "utf8",
  });
  if (status !== 0) return undefined;
  return stdout.split("\0").flatMap((one): [string, string][] => {
    const at = one.indexOf("\n");
    return at === -1 ? [] : [[one.slice(0, at), one.slice(at + 1)]];
  });
}

const parsed = (text: string) => [...variablesIn(text)].map(({ name, value }) => [name, value]);

test("values are those that git reads", () => {
  const lines = [
    "[core]",
    '[filter "a B\\"c"]',
    "[include] path = x",
    "  hooksPath = a b  # comment",
    'hooksPath = "a;b" c ; d',
    "fsmonitor = a\\",
    "  b",
    'clean = x\\n\\t\\"y\\\\',
    "key",
    "other=",
    "# hooksPath = z",
    "",
    'q = " lead"  ',
  ];
  const text = fc
    .array(fc.constantFrom(...lines), { maxLength: 8 })
    .map((some) => `[a]\n${some.join("\n")}\n`);
  fc.assert(
    fc.property(text, (one) => {
      const expected = variablesByGit(one);
      if (expected !== undefined) expect(parsed(one)).toEqual(expected);
    }),
    { numRuns: 150 },
  );
});

test("a file that git refuses still shows what can be read", () => {
  expect(parsed("[core]\nhooksPath = a\n[broken\nx = y")).toContainEqual(["core.hookspath", "a"]);
});

test("paths are relative to the working tree, those of included files to the file that names them", () => {
  mkdirSync(join(root, "sub"));
  mkdirSync(join(root, "folder"));
  writeFileSync(
    join(root, "sub/more"),
    '[alias]\n\tx = "!sh ./a/b.sh | c"\n[diff "d"]\n\ttextconv = ~/bin/show\n',
  );
  writeFileSync(
    file,
    '[include]\n\tpath = sub/more\n[core]\n\thooksPath = hooks\n\tpager = less -R\n[alias]\n\tcd = "!cd ./folder && ls"\n',
  );
  const variablesOf = (path: string) => variablesIn(readSmall(path) ?? "");
  expect(pathsIn([file], { top: root, home: "/h" }, variablesOf)).toEqual(
    ["sub/more", "hooks", "a/b.sh"].map((path) => join(root, path)).concat("/h/bin/show"),
  );
});

test("files that include each other are read once", () => {
  writeFileSync(file, `[include]\n\tpath = ${file}\n`);
  const variablesOf = (path: string) => variablesIn(readSmall(path) ?? "");
  expect(pathsIn([file], { top: root, home: undefined }, variablesOf)).toEqual([file]);
});

test("only small regular files are read", () => {
  spawnSync("mkfifo", [join(root, "fifo")]);
  writeFileSync(join(root, "large"), Buffer.alloc(1024 * 1024 + 1));
  expect(
    ["fifo", "large", "missing", "folder", "config/x"].map((name) => readSmall(join(root, name))),
  ).toEqual(Array(5).fill(undefined));
});
