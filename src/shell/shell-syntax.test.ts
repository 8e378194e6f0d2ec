import { expect, test } from "bun:test";
import { noteSyntax } from "./shell-syntax.ts";

const missing = (program: string, word: string) => `${program}: ${word}: No such file or directory\n`;

test.each([
  ["grep", "*.ts", "grep -r --include=*.ts PATTERN . searches such files"],
  ["/usr/bin/grep", "src/*.ts", "grep -r --include=*.ts PATTERN src searches such files"],
  ["grep", "src/*/a?.ts", "grep -r --include=a?.ts PATTERN src searches such files"],
  ["grep", "/srv/*.ts", "grep -r --include=*.ts PATTERN /srv searches such files"],
  ["rg", "src/*.{ts,js}", "rg -g src/*.{ts,js} PATTERN searches the files that it matches"],
])("a glob that %s did not find is one that no shell expanded: %s", (program, word, option) => {
  const name = program.split("/").at(-1)!;
  expect(noteSyntax([program, "-n", "foo", word], ["grep", "rg"], missing(name, word))).toEqual([
    `no shell runs here: ${name} got "${word}" as it is; ${option}`,
  ]);
  const [withShell] = noteSyntax([program, "foo", word], [], missing(name, word));
  expect(withShell).toEndWith(`${option}; sh with args ["-c", LINE] runs a line of a shell`);
});

test("a pattern that a program takes itself is not such a glob", () => {
  expect(noteSyntax(["grep", "fo*", "a.ts"], [])).toEqual([]);
  expect(noteSyntax(["grep", "fo*", "a.ts"], [], missing("grep", "a.ts"))).toEqual([]);
  expect(noteSyntax(["git", "add", "*.ts"], [], "warning: LF will be replaced by CRLF in *.ts\n")).toEqual(
    [],
  );
  expect(noteSyntax(["sh", "-c", "grep foo *.ts"], [], missing("grep", "*.ts"))).toEqual([]);
});

test("another program that did not find a glob is said to have got it", () => {
  const stderr = "sed: can't read *.ts: No such file or directory\n";
  expect(noteSyntax(["sed", "-n", "1p", "*.ts"], ["sed"], stderr)).toEqual([
    'no shell runs here: sed got "*.ts" as it is',
  ]);
});

test("of very many globs and errors, only the first are compared", () => {
  const globs = Array.from({ length: 20_000 }, (_, index) => `*${index}*`);
  const errors = (from: number) =>
    globs
      .slice(from)
      .map((word) => missing("grep", word))
      .join("");
  expect(noteSyntax(["grep", "x", ...globs], [], errors(0))[0]).toContain('got "*0*", "*1*", "*2*" as it is');
  expect(noteSyntax(["grep", "x", ...globs], [], errors(10_000))).toEqual([]);
});
