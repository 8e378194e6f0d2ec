import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changedFiles, type Imports, readImports, type SuiteFiles, scopes, touchedBy } from "./changed.ts";
import { type Plan, plan } from "./house.ts";

const small: Plan = {
  ...plan,
  rooms: {
    "transports/mcp": ["coder"],
    coder: ["filesystem/jail", "text/globs"],
    "coder/config": [],
    shell: ["filesystem/jail"],
    "filesystem/jail": [],
    "text/globs": [],
  },
};
const suites: readonly SuiteFiles[] = [
  {
    name: "unit",
    files: [
      "scripts/check.test.ts",
      "src/coder/tree.test.ts",
      "src/text/globs/set.test.ts",
      "src/filesystem/jail/walk.test.ts",
    ],
  },
  ...Object.entries(scopes).map(([name, { folder }]) => ({ name, files: [`${folder}/${name}.test.ts`] })),
];

const imports: Imports = new Map([
  ["src/coder/tree.ts", ["src/filesystem/jail/walk.ts", "src/text/globs/set.ts"]],
  ["src/coder/tree.test.ts", ["src/coder/tree.ts"]],
  ["src/text/globs/set.test.ts", ["src/text/globs/set.ts"]],
  [
    "src/filesystem/jail/walk.test.ts",
    ["src/filesystem/jail/walk.ts", "src/filesystem/jail/jail.test-kit.ts"],
  ],
  ["scripts/check.test.ts", ["scripts/check.ts"]],
  ["tests/shell/shell.test.ts", ["tests/harness/tree.ts"]],
]);

const touched = (...changed: string[]) => touchedBy(changed, suites, { plan: small, imports });
const unitOf = (...changed: string[]) =>
  touched(...changed).flatMap(({ suite, file }) => (suite === "unit" ? [file] : []));
const suitesOf = (...changed: string[]) =>
  touched(...changed).flatMap(({ suite }) => (suite === "unit" ? [] : [suite]));

test("a change touches the tests that import it, through other files too, the nearest first", () => {
  expect(unitOf("src/text/globs/set.ts")).toEqual(["src/text/globs/set.test.ts", "src/coder/tree.test.ts"]);
  expect(unitOf("src/filesystem/jail/jail.test-kit.ts")).toEqual(["src/filesystem/jail/walk.test.ts"]);
  expect(unitOf("src/coder/tree.test.ts")).toEqual(["src/coder/tree.test.ts"]);
});

test("a change touches the suites of its room, before those of the rooms above", () => {
  expect(suitesOf("src/text/globs/set.ts")).toEqual(["escapes", "conformance", "mcp"]);
  expect(suitesOf("src/transports/mcp/tools.ts")).toEqual(["mcp"]);
  expect(suitesOf("src/filesystem/jail/walk.ts").sort()).toEqual([
    ...["conformance", "escapes", "faults", "faults-current-directory", "faults-descriptors"],
    ...["mcp", "races", "shell"],
  ]);
  expect(suitesOf("src/filesystem/jail/walk.test.ts")).toEqual([]);
});

test("a file of tests that no test imports touches its folder", () => {
  expect(suitesOf("tests/harness/tree.ts")).toEqual(["shell"]);
  expect(suitesOf("tests/faults/crash-child.ts")).toEqual([
    ...["faults", "faults-descriptors", "faults-current-directory"],
  ]);
  expect(unitOf("scripts/start.ts")).toEqual(["scripts/check.test.ts"]);
});

test("pages touch no test, and packages touch all", () => {
  expect(touched("README.md", "docs/jail.md", "bench/run.ts")).toEqual([]);
  expect(touched("package-lock.json")).toHaveLength(suites.flatMap(({ files }) => files).length);
  expect(touched("tests/conformance/a.golden.json")).toHaveLength(
    suites.flatMap(({ files }) => files).length,
  );
});

test("each room of the house is in the scope of a suite, and each scope names rooms", () => {
  const rooms = Object.keys(plan.rooms);
  const noticed = (room: string) =>
    touchedBy([`src/${room}.ts`], suites, { plan, imports: new Map() }).length > 0;
  expect(rooms.filter((room) => !noticed(room))).toEqual([]);
  const named = Object.values(scopes).flatMap(({ through = [], of = [] }) => [...through, ...of]);
  expect(named.filter((room) => !rooms.includes(room))).toEqual([]);
});

test("the imports of the project are read from its files", () => {
  const read = readImports(join(import.meta.dir, ".."));
  expect(read.get("scripts/changed.test.ts")).toContain("scripts/changed.ts");
  expect(read.get("src/main.ts")).toContain("src/cli/call.ts");
});

const root = mkdtempSync(join(tmpdir(), "coder-"));
afterAll(() => rmSync(root, { recursive: true }));

const git = (...args: string[]) => {
  const { exitCode, stderr } = Bun.spawnSync([
    ...["git", "-C", root, "-c", "user.name=a", "-c", "user.email=a@b", "-c", "commit.gpgsign=false"],
    ...args,
  ]);
  if (exitCode !== 0) throw new Error(stderr.toString());
};

function commit(files: Readonly<Record<string, string>>): void {
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(join(root, path)), { recursive: true });
    writeFileSync(join(root, path), text);
  }
  git("add", "--all");
  git("commit", "--message", "a change");
}

test("changed is what was committed on the branch, moved, edited and not yet added", () => {
  git("init", "--initial-branch", "main");
  commit({ "src/a.ts": "a\n", "src/b.ts": "b\n" });
  commit({ "src/c.ts": "c\n" });
  // A fresh clone has nothing to compare.
  expect(changedFiles(root, undefined)).toEqual([]);
  git("checkout", "-b", "mine");
  git("mv", "src/a.ts", "src/moved.ts");
  commit({ "src/b.ts": "B\n" });
  writeFileSync(join(root, "src/c.ts"), "C\n");
  writeFileSync(join(root, "src/new file.ts"), "");
  const mine = ["src/a.ts", "src/b.ts", "src/c.ts", "src/moved.ts", "src/new file.ts"];
  expect(changedFiles(root, undefined)).toEqual(mine);
  expect(changedFiles(root, "HEAD")).toEqual(["src/c.ts", "src/new file.ts"]);
  expect(() => changedFiles(root, "nowhere")).toThrow("nowhere");
});
