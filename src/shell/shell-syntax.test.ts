import { expect, test } from "bun:test";
import { readCommandLine } from "./programs/words.ts";
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
  expect(
    noteSyntax({ argv: [program, "-n", "foo", word], stderr: missing(name, word) }, ["grep", "rg"]),
  ).toEqual([`no shell runs here: ${name} got "${word}" as it is; ${option}`]);
  const [withShell] = noteSyntax({ argv: [program, "foo", word], stderr: missing(name, word) }, []);
  expect(withShell).toEndWith(`${option}; sh with args ["-c", LINE] runs a line of a shell`);
});

test("a pattern that a program takes itself is not such a glob", () => {
  expect(noteSyntax({ argv: ["grep", "fo*", "a.ts"] }, [])).toEqual([]);
  expect(noteSyntax({ argv: ["grep", "fo*", "a.ts"], stderr: missing("grep", "a.ts") }, [])).toEqual([]);
  expect(
    noteSyntax(
      { argv: ["git", "add", "*.ts"], stderr: "warning: LF will be replaced by CRLF in *.ts\n" },
      [],
    ),
  ).toEqual([]);
  expect(noteSyntax({ argv: ["sh", "-c", "grep foo *.ts"], stderr: missing("grep", "*.ts") }, [])).toEqual(
    [],
  );
});

test("another program that did not find a glob is said to have got it", () => {
  const stderr = "sed: can't read *.ts: No such file or directory\n";
  expect(noteSyntax({ argv: ["sed", "-n", "1p", "*.ts"], stderr }, ["sed"])).toEqual([
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
  expect(noteSyntax({ argv: ["grep", "x", ...globs], stderr: errors(0) }, [])[0]).toContain(
    'got "*0*", "*1*", "*2*" as it is',
  );
  expect(noteSyntax({ argv: ["grep", "x", ...globs], stderr: errors(10_000) }, [])).toEqual([]);
});

/** Returns the note on a line that is sent without `args`. */
const noteLine = (line: string) => {
  const { words, operated } = readCommandLine(line);
  return noteSyntax({ argv: words, operated }, ["ls"]);
};

test.each([
  ["python3 t.py; ls", 'python3 got "t.py;" as it is'],
  ["ls|wc -l", 'ls|wc got "ls|wc" as it is'],
  ["npm ci&&npm test", 'npm got "ci&&npm" as it is'],
  ["make 2>/dev/null", 'make got "2>/dev/null" as it is'],
  ["bash x.sh; ls", 'bash got "x.sh;" as it is'],
])("%s has an operator that no shell acts on", (line, note) => {
  expect(noteLine(line)).toEqual([`no shell runs here: ${note}`]);
});

test.each([
  "sh -c 'ls; ls | wc'",
  "python3 -c 'a(); b()'",
  "find . -name x -exec ls {} \\;",
  "grep -E 'a|b' f",
])("%s has none", (line) => {
  expect(noteLine(line)).toEqual([]);
});

test("a semicolon that find takes itself is none", () => {
  expect(noteSyntax({ argv: ["find", ".", "-exec", "ls", "{}", ";"] }, [])).toEqual([]);
});
