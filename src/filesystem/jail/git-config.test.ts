import { afterAll, expect, test } from "bun:test";
import { spawnSync } from "node:child_process";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { namesIn, readStart } from "./git-config.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));
const file = join(root, "config");
mkdirSync(join(root, "folder"));

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

const parsed = (text: string) => namesIn(Buffer.from(text), 1000).map(({ path }) => path);

test("the values and the words of commands that name paths are those that git reads", () => {
  const lines = [
    "[core]",
    '[Filter "a B\\"c"]',
    "[branch]",
    "[include] path = x",
    "  hooksPath = a b  # comment",
    'hooksPath = "a;b" c ; d',
    "hooksPath = a\\",
    "  b",
    "[alias] \\",
    'attributesFile = x\\n\\t\\"y\\\\',
    'fsmonitor = "a/b" c /d',
    "clean = e --f=g/h",
    "hooksPath",
    "hooksPath=",
    "# hooksPath = z",
    "",
    'hookspath = " lead"  ',
    'hookspath = é ""\r',
  ];
  const text = fc
    .array(fc.constantFrom(...lines), { maxLength: 8 })
    .map((some) => `[a]\n${some.join("\n")}\n`);
  const namesOf = ([name, value]: [string, string]) => {
    if (/^(?:core\.hookspath|core\.attributesfile|include\.path)$/.test(name)) return [value];
    return /^(?:core\.fsmonitor|filter\..*\.clean|alias\..*)$/.test(name)
      ? value.split(/[ ="]/).filter((word) => word.includes("/"))
      : [];
  };
  fc.assert(
    fc.property(text, (one) => {
      const expected = variablesByGit(one);
      if (expected !== undefined) expect(parsed(one)).toEqual(expected.flatMap(namesOf));
    }),
    { numRuns: 150 },
  );
});

test("a file that git refuses still shows what can be read", () => {
  expect(parsed("[core]\nhooksPath = a\n[broken\nx = y")).toEqual(["a"]);
});

test("only the start of a regular file is read", () => {
  spawnSync("mkfifo", [join(root, "fifo")]);
  writeFileSync(join(root, "large"), "large");
  expect(["fifo", "missing", "folder", "config/x"].map((name) => readStart(join(root, name), 2))).toEqual(
    Array(4).fill(undefined),
  );
  expect(readStart(join(root, "large"), 2)).toEqual(Buffer.from("la"));
});
