import { expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import type { Plan } from "./house.ts";
import { findBreaches, findUnused, parseProject } from "./rooms.ts";
import type { Source } from "./syntax.ts";

const plan: Plan = {
  districts: ["main", "upstairs", "downstairs", "errors"],
  rooms: {
    main: ["upstairs"],
    upstairs: ["downstairs", "upstairs/shelf"],
    "upstairs/shelf": [],
    downstairs: ["errors"],
    errors: [],
  },
  packages: { yaml: ["downstairs/config"] },
  guarded: { "node:fs": ["downstairs"], "node:child_process": [] },
  onlyOnBun: ["downstairs/native"],
  readEnvironment: ["main"],
  nameCodes: ["errors"],
  changeFiles: ["downstairs/config"],
  openToTests: ["downstairs/door"],
};

/** Returns the results of `find` in a project of these files. */
async function findIn(
  find: (sources: readonly Source[]) => string[],
  files: Readonly<Record<string, string>>,
): Promise<string[]> {
  const root = mkdtempSync(join(tmpdir(), "coder-"));
  try {
    const compilerOptions = { noEmit: true, module: "preserve", allowImportingTsExtensions: true };
    const all = { "tsconfig.json": JSON.stringify({ compilerOptions, include: ["src", "tests"] }), ...files };
    for (const [path, text] of Object.entries(all)) {
      mkdirSync(join(root, dirname(path)), { recursive: true });
      writeFileSync(join(root, path), text);
    }
    return find(await parseProject(root));
  } finally {
    rmSync(root, { recursive: true });
  }
}

const breachesIn = (files: Readonly<Record<string, string>>, made = plan): Promise<string[]> =>
  findIn((sources) => findBreaches(sources, made), files);

/** One breach of each rule: the file, and a part of the complaint. */
const broken: readonly [rule: string, path: string, text: string, says: string][] = [
  [
    "an arrow that goes up",
    "src/downstairs/a.ts",
    'import "../upstairs/b.ts";',
    "no arrow leads from downstairs to upstairs",
  ],
  [
    "a type import counts",
    "src/errors.ts",
    'import type { A } from "./main.ts";',
    "no arrow leads from errors to main",
  ],
  [
    "an import type counts",
    "src/errors.ts",
    'export type A = import("./main.ts").A;',
    "no arrow leads from errors to main",
  ],
  [
    "a dynamic import counts",
    "src/errors.ts",
    'void import("./main.ts");',
    "no arrow leads from errors to main",
  ],
  ["a re-export counts", "src/errors.ts", 'export * from "./main.ts";', "no arrow leads from errors to main"],
  [
    "a room in a room",
    "src/upstairs/shelf.ts",
    'import "./b.ts";',
    "no arrow leads from upstairs/shelf to upstairs",
  ],
  ["a computed import", "src/main.ts", "void import(process.argv[2]!);", "computed"],
  ["a file in no room", "src/cellar/a.ts", 'import "../errors.ts";', "is in no room"],
  ["an import of no room", "src/main.ts", 'import "./cellar/a.ts";', "which is in no room"],
  ["a package elsewhere", "src/main.ts", 'import "yaml";', "imports yaml, which is for downstairs/config"],
  [
    "a package by its path",
    "src/main.ts",
    'import "../node_modules/yaml/dist/a.js";',
    "imports yaml, which is for",
  ],
  [
    "a package nobody has",
    "src/main.ts",
    'import "@scope/left-pad/deep";',
    "imports @scope/left-pad, which is for none",
  ],
  [
    "the disk",
    "src/main.ts",
    'import { readFileSync } from "node:fs";',
    "imports node:fs, which is for downstairs",
  ],
  ["other programs", "src/downstairs/a.ts", 'import "node:child_process";', "which is for none"],
  [
    "a change of the tree",
    "src/downstairs/a.ts",
    'import { lstatSync, unlinkSync as gone } from "node:fs";',
    "imports unlinkSync; the tree is changed by src/filesystem/disk",
  ],
  [
    "all of node:fs",
    "src/downstairs/a.ts",
    'import * as fs from "node:fs/promises";',
    "imports all of node:fs",
  ],
  ["opening for writing", "src/downstairs/a.ts", "export const flags = fs.O_CREAT;", "says O_CREAT"],
  ["a change through a handle", "src/downstairs/a.ts", "handle.chmod(0o600);", "calls chmod"],
  ["a module of Bun", "src/main.ts", 'import "bun:ffi";', "imports bun:ffi"],
  ["the environment", "src/upstairs/a.ts", 'export const a = process.env["A"];', "reads the environment"],
  ["the global of Bun", "src/main.ts", "Bun.gc(true);", "uses Bun"],
  ["a computed pattern", "src/main.ts", "new RegExp(process.argv[2]!);", "computed pattern"],
  ["a computed pattern, called", "src/main.ts", "RegExp(`${process.pid}`);", "computed pattern"],
  ["a code", "src/main.ts", 'export const code = "C210";', "spells out C210"],
  ["a code as a key", "src/main.ts", "export const meanings = { S215: 1 };", "spells out S215"],
  [
    "a path above the current folder",
    "src/main.ts",
    'export const file = "../config.yaml";',
    "names ../config.yaml",
  ],
  ["a kit of tests", "src/main.ts", 'import "./upstairs/up.test-kit.ts";', "which is for tests"],
  [
    "a test that looks inside",
    "tests/a.test.ts",
    'import "../src/downstairs/b.ts";',
    "tests/ sees the worker from outside",
  ],
];

test.each([...broken])("%s is a breach", async (_rule, path, text, says) => {
  const breaches = await breachesIn({ [path]: `\n${text}` });
  expect(breaches).toHaveLength(1);
  expect(breaches[0]).toStartWith(`${path}:2 `);
  expect(breaches[0]).toContain(says);
});

test("what follows the plan is no breach", async () => {
  const breaches = await breachesIn({
    "src/main.ts": 'import { up } from "./upstairs/up.ts";\nvoid import("./upstairs/up.ts");\nexport { up };',
    "src/upstairs/up.ts":
      'import type { Stats, unlinkSync } from "node:fs";\nimport "./shelf.ts";\nexport const up: Stats | 0 = 0;',
    "src/upstairs/shelf.ts": 'export const sentence = "C210 is in prose // import x from \\"yaml\\"";',
    "src/downstairs/config.ts":
      'import { chmodSync, O_RDWR } from "node:fs";\nimport "yaml";\nimport "../errors.ts";\nimport "node:path";',
    "src/downstairs/native.ts": 'import "bun:ffi";\nBun.gc(true);',
    "src/downstairs/config.test.ts": 'import "bun:test";\nimport "../main.ts";',
    "src/downstairs/config.test-kit.ts": 'import "node:child_process";\nimport "../main.ts";\nBun.gc(true);',
    "src/errors.ts":
      '// import "./main.ts"; Bun.gc()\nexport const codes = ["C210", /C2/, new RegExp("C2")];\nexport const up = ["../", "./a.yaml"];',
    "tests/a.test.ts": 'import "bun:test";\nimport "../src/downstairs/door.ts";\nimport "./b.ts";',
    "tests/b.ts": "Bun.gc(true);",
  });
  expect(breaches).toEqual([]);
});

test.each([
  ["values", 'import { b } from "./b.ts";\nexport const a = b;'],
  ["types", 'import type { B } from "./b.ts";\nexport type A = B;'],
  ["a re-export", 'export * from "./b.ts";'],
  ["an import type", 'export type A = import("./b.ts").B;'],
])("files that import each other are a breach: %s", async (_kind, text) => {
  const breaches = await breachesIn({
    "src/downstairs/a.ts": text,
    "src/downstairs/b.ts": 'export type { A as B } from "./c.ts";\nexport const b = 1;',
    "src/downstairs/c.ts": 'import "./a.ts";\nexport type A = 1;',
    "src/downstairs/d.ts": 'import "./a.ts";',
  });
  expect(breaches).toEqual([
    "src/downstairs/a.ts imports itself through others: src/downstairs/a.ts → src/downstairs/b.ts → src/downstairs/c.ts → src/downstairs/a.ts",
  ]);
});

test("a plan with a cycle is a breach", async () => {
  const rooms = { ...plan.rooms, errors: ["main"] };
  expect(await breachesIn({ "src/main.ts": "" }, { ...plan, rooms })).toEqual([
    "the plan has a cycle: main → upstairs → downstairs → errors → main",
    "the arrow errors → main leads up",
  ]);
});

test("what the plan allows is used", async () => {
  const unused = await findIn((sources) => findUnused(sources, plan), {
    "src/main.ts": 'import type { A } from "./upstairs/a.ts";\nexport type B = A;',
    "src/upstairs/a.ts": 'import "./shelf.ts";\nimport "./b.ts";\nexport type A = 1;',
    "src/upstairs/b.ts": "",
    "src/upstairs/shelf.ts": "",
    "src/upstairs/a.test-kit.ts": 'import "../downstairs/a.ts";',
    "src/downstairs/a.ts": 'import { readFileSync } from "node:fs";\nimport "yaml";',
    "src/errors.ts": "",
  });
  expect(unused).toEqual([
    "no import needs the arrow upstairs → downstairs",
    "no import needs the arrow downstairs → errors",
    "downstairs/config may import yaml, and does not",
  ]);
});

test("an arrow to a district further up is a breach, and so is a room without a district", () => {
  const rooms = { downstairs: ["upstairs/shelf"], "upstairs/shelf": [], attic: [] };
  expect(findBreaches([], { ...plan, rooms })).toEqual([
    "the arrow downstairs → upstairs/shelf leads up",
    "attic is in none of the districts",
  ]);
});
