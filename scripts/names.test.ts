import { describe, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { commentsOf } from "./comments.ts";
import { findNamingFaults, sectionsOf, wordsOf } from "./names.ts";
import { bannedEverywhere, bannedWords } from "./vocabulary.ts";

const compilerOptions = { noEmit: true, module: "preserve", allowImportingTsExtensions: true };

/** A project in which no rule finds a fault. */
const sound = {
  "tsconfig.json": JSON.stringify({ compilerOptions, include: ["src", "tests", "bench"] }),
  "docs/specification/coder.md": "## 8. Functions\n\n### 8.1 Order\n",
  "docs/specification/shell.md": "## 1. Words\n",
  "docs/specification/bus.md": "## 3. Sizes\n",
  "docs/glossary.md": "| word | meaning |\n| --- | --- |\n| jail | a way from a path to a file |\n",
  "src/a.ts": "export const readFile = 1;\nconst turn = 2;\nexport { turn as pause };\n",
};

/** Returns the faults in a project of these files in addition to those of `sound`. */
async function faultsIn(files: Readonly<Record<string, string>>): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), "coder-"));
  try {
    for (const [path, text] of Object.entries({ ...sound, ...files })) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return await findNamingFaults(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}

/** Returns a citation, made of pieces, because this file is also checked for dead ones. */
const cite = (document: string, section: string) => `// ${document} ${"§"}${section}\n`;

describe("names", () => {
  test("a sound project has no faults", async () => {
    expect(await faultsIn({ "src/b.ts": cite("coder", "8.1"), "tests/b.ts": cite("bus", "3") })).toEqual([]);
  });

  const faulty: readonly [what: string, path: string, text: string, fault: string][] = [
    ["an exported name", "src/b.ts", "export function askCaller() {}", 'src/b.ts: askCaller says "ask"'],
    [
      "one of several exported names",
      "src/b.ts",
      "export const fine = 1, askUser = 2;",
      'askUser says "ask"',
    ],
    ["a type", "src/b.ts", "export interface Workshop {}", 'src/b.ts: Workshop says "workshop"'],
    ["the name of a file", "src/spelling.ts", "", 'src/spelling.ts: spelling says "spelling"'],
    ["the name of a test", "src/lend.test.ts", "", 'src/lend.test.ts: lend.test says "lend"'],
    [
      "a local name",
      "src/b.ts",
      "function run(road: 1) {\n  return road;\n}\nrun(1);",
      "src/b.ts:1: road says",
    ],
    [
      "a local name in a test",
      "tests/b.test.ts",
      "const workshop = 1;\nworkshop.toFixed();",
      "tests/b.test.ts:1: workshop says",
    ],
    [
      "a method in a test kit",
      "src/b.test-kit.ts",
      "export class B {\n  gives() {}\n}",
      "src/b.test-kit.ts:2: gives says",
    ],
    ["an exported name of tests", "tests/b.ts", "export const question = 1;", "tests/b.ts: question says"],
    ["the name of a file of benchmarks", "bench/contest.ts", "", 'bench/contest.ts: contest says "contest"'],
    [
      "a duplicate in tests",
      "tests/b.ts",
      "export type readFile = 1;",
      "readFile is exported by src/a.ts and tests/b.ts",
    ],
    ["a private field", "src/b.ts", "export class A {\n  #desk = 1;\n}", "src/b.ts:2: #desk says"],
    ["a duplicate", "src/b.ts", "export type readFile = 1;", "readFile is exported by src/a.ts and src/b.ts"],
    ["a dead citation", "src/b.ts", cite("coder", "9"), "src/b.ts: coder §9 is no section"],
    ["one in a page", "README.md", cite("shell", "1.1"), `README.md: shell ${"§"}1.1 is no section`],
    [
      "one within a document",
      "docs/specification/bus.md",
      `## 3. Sizes\n${"§"}4`,
      "bus.md: §4 is no section of it",
    ],
    [
      "one by words",
      "tests/b.ts",
      `// (specification, ${"section"} 8)`,
      "tests/b.ts: cites a specification by words",
    ],
    [
      "a file that is not there",
      "docs/mcp.md",
      "`src/a.ts`, `a.ts` and `src/c.ts`",
      "docs/mcp.md names src/c.ts",
    ],
    [
      "a folder that is not there",
      "README.md",
      "`docs/specification/`, `src/b/*`",
      "README.md names src/b/*",
    ],
    ["a dead link", "docs/mcp.md", "[a](../src/a.ts#a), [b](b.md#b)", "docs/mcp.md links to b.md"],
    ["a phrase in a page", "README.md", "```\nanew\n```\nwritten\nanew", 'README.md says "anew"'],
    [
      "a phrase in a comment",
      "tests/b.ts",
      "/** Writes it\n *  anew. */",
      'tests/b.ts:1: a comment says "anew"; say again',
    ],
    ["a banned word that is explained", "docs/glossary.md", "| jail, errand | … |", 'explains "errand"'],
  ];
  for (const [what, path, text, fault] of faulty)
    test(`a fault is found: ${what}`, async () => {
      const faults = await faultsIn({ [path]: text });
      expect(faults).toHaveLength(1);
      expect(faults[0]).toContain(fault);
    });

  test("a word is banned in exports only where code has a plain meaning for it", async () => {
    expect(await faultsIn({ "src/b.ts": "function look() {}\nlook();" })).toEqual([]);
  });

  test("words banned everywhere are banned words", () => {
    expect([...bannedEverywhere].filter((word) => bannedWords[word] === undefined)).toEqual([]);
  });
});

test("comments of a file are joined where no code is between them", () => {
  const source = [
    "/**",
    " * One that goes",
    " * on.",
    " */",
    'const url = "ws://127.0.0.1"; // after code',
    "  // two",
    "  // lines",
    "const one = 1 * 2;",
    "// last",
  ];
  expect(commentsOf(source.join("\n"))).toEqual([
    { line: 1, text: "\nOne that goes\non." },
    { line: 5, text: "after code" },
    { line: 6, text: "two\nlines" },
    { line: 9, text: "last" },
  ]);
});

test("a name is split into its words", () => {
  expect([wordsOf("runCall"), wordsOf("line-buffer"), wordsOf("O_PATH"), wordsOf("#held")]).toEqual([
    ["run", "call"],
    ["line", "buffer"],
    ["o", "path"],
    ["held"],
  ]);
});

test("sections are the numbers of headings", () => {
  expect([...sectionsOf("# 1 title\n## 2. Two\n### 2.1 One\ntext 3.\n#### 2.1.1 Deep\n")]).toEqual([
    "2",
    "2.1",
    "2.1.1",
  ]);
});
