import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { changedFiles, scopes, select } from "./changed.ts";
import { type Plan, plan } from "./house.ts";

const small: Plan = {
  ...plan,
  rooms: {
    mcp: ["coder"],
    coder: ["jail", "globs"],
    "coder/config": [],
    shell: ["jail"],
    jail: [],
    globs: [],
  },
};
/** In no room. */
const whole = "src/whole.test.ts";
const unitTests = [
  "scripts/check.test.ts",
  "src/coder/config.test.ts",
  "src/coder/tree.test.ts",
  "src/globs/set.test.ts",
  "src/jail/walk.test.ts",
  "src/mcp/tools.test.ts",
  "src/shell/ls.test.ts",
  whole,
];
const selected = (...changed: string[]) => select(changed, small, unitTests);

test("a change belongs to its room and to all rooms above, and to the suites of those", () => {
  expect(selected("src/globs/set.ts")).toEqual({
    unit: ["src/coder/tree.test.ts", "src/globs/set.test.ts", "src/mcp/tools.test.ts", whole],
    suites: ["conformance", "mcp", "escapes"],
  });
  expect(selected("src/mcp/tools.ts")).toEqual({ unit: ["src/mcp/tools.test.ts", whole], suites: ["mcp"] });
});

test("a room inside a room is one of its own", () => {
  expect(selected("src/coder/config.ts")).toEqual({ unit: ["src/coder/config.test.ts", whole], suites: [] });
});

test("the jail belongs to every suite that tries to get out of it", () => {
  expect(selected("src/jail/walk.ts").suites).toEqual([
    "conformance",
    "shell",
    "mcp",
    "escapes",
    "races",
    "faults",
    "faults-descriptors",
    "faults-current-directory",
  ]);
});

test("what only tests use belongs to tests", () => {
  const unit = ["src/jail/walk.test.ts"];
  expect(selected("src/jail/walk.test.ts")).toEqual({ unit, suites: [] });
  expect(selected("src/jail/jail.test-kit.ts")).toEqual({
    unit: ["src/coder/tree.test.ts", ...unit, "src/mcp/tools.test.ts", "src/shell/ls.test.ts", whole],
    suites: [],
  });
  expect(selected("tests/shell/case.ts")).toEqual({ unit: [], suites: ["shell"] });
  expect(selected("tests/security/race.test.ts")).toEqual({ unit: [], suites: ["escapes", "races"] });
  expect(selected("tests/harness/tree.ts")).toEqual({ unit: [], suites: Object.keys(scopes) });
});

test("scripts belong to their own tests, pages to none, and packages to all", () => {
  expect(selected("scripts/measure.ts")).toEqual({ unit: ["scripts/check.test.ts"], suites: [] });
  expect(selected("README.md", "docs/jail.md", "bench/run.ts")).toEqual({ unit: [], suites: [] });
  expect(selected("package-lock.json")).toEqual({ unit: unitTests, suites: Object.keys(scopes) });
  expect(selected("tests/conformance/a.golden.json").unit).toEqual(unitTests);
});

test("each room of the house is in the scope of a suite, and each scope names rooms", () => {
  const rooms = Object.keys(plan.rooms);
  const noticed = (room: string) => select([`src/${room}.ts`], plan, []).suites.length > 0;
  expect(rooms.filter((room) => !noticed(room))).toEqual([]);
  const named = Object.values(scopes).flatMap(({ through = [], of = [] }) => [...through, ...of]);
  expect(named.filter((room) => !rooms.includes(room))).toEqual([]);
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
  expect(changedFiles(root, undefined)).toEqual(["src/c.ts"]);
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
