/**
 * Folders with files that programs act on by themselves: removed as a whole, restored as a whole, and kept if
 * the configuration of git names something in them.
 */
import { afterEach, beforeEach, describe, expect, test } from "bun:test";
import { execFileSync } from "node:child_process";
import {
  chmodSync,
  existsSync,
  lstatSync,
  mkdirSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { callWith, type FunctionCall } from "./call-with.test-kit.ts";

let root: string;
const at = (path: string) => join(root, "base", path);

const files = {
  "app/main.js": "main\n",
  "app/.npmrc": "ignore-scripts=true\n",
  "app/.vscode/tasks.json": "{}\n",
  "app/.envrc": "export A=1\n",
  "app/deep/.github/hooks/run": "run\n",
  "other/x": "x\n",
};

beforeEach(() => {
  root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  for (const [path, text] of Object.entries(files)) {
    mkdirSync(dirname(at(path)), { recursive: true });
    writeFileSync(at(path), text);
  }
  execFileSync("git", ["init", "-q", at("app")]);
});
afterEach(() => rmSync(root, { recursive: true }));

const agent = { profile: "agent", index: "off" } as const;
const call = (...calls: readonly FunctionCall[]) => callWith(root, agent, ...calls);
const remove = (path: string): FunctionCall => ["coder::delete-file", { paths: [path], recursive: true }];

/** Returns every entry below a folder, with its mode and content. */
function stateOf(path: string): string[] {
  return readdirSync(at(path), { recursive: true, encoding: "utf8" })
    .sort()
    .map((name) => {
      const stats = lstatSync(at(`${path}/${name}`));
      return `${name} ${stats.mode} ${stats.isFile() ? readFileSync(at(`${path}/${name}`), "latin1") : ""}`;
    });
}

const removals: Readonly<Record<string, FunctionCall>> = {
  "delete-file": remove("app"),
  transact: ["coder::transact", { changes: [{ op: "delete", path: "app", recursive: true }] }],
};

describe.each(Object.entries(removals))("%s", (_, removal) => {
  test("a project folder goes with its repository, and an undo brings all of it back", async () => {
    chmodSync(at("app/.git/hooks"), 0o555);
    const before = stateOf("app");
    const [removed, undone] = await call(removal, ["coder::undo", {}]);
    expect(JSON.stringify(removed)).not.toMatch(/"code"|"success":false|unavailable/);
    expect(JSON.stringify(undone)).not.toMatch(/"code"|skipped":\[\{/);
    expect(stateOf("app")).toEqual(before);
    chmodSync(at("app/.git/hooks"), 0o755);
  });

  test("the undo makes nothing of it where a link now leads elsewhere", async () => {
    mkdirSync(at("outer"));
    renameSync(at("app"), at("outer/app"));
    await call(JSON.parse(JSON.stringify(removal).replaceAll('"app"', '"outer/app"')) as FunctionCall);
    renameSync(at("outer"), at("gone"));
    symlinkSync("other", at("outer"));
    const [undone] = await call(["coder::undo", {}]);
    const conflict = { path: "outer", expected: "dir", found: "symlink", stays: true };
    expect(undone).toMatchObject({ answer: { undone: [], conflicts: [conflict] } });
    expect(existsSync(at("other/app"))).toBe(false);
  });
});

test("a dry run says that it would go", async () => {
  const [answer] = await call(["coder::delete-file", { paths: ["app"], recursive: true, dry_run: true }]);
  expect(JSON.stringify(answer)).toContain('"success":true');
  expect(existsSync(at("app/.npmrc"))).toBe(true);
});

test.each([".npmrc", ".vscode", ".vscode/tasks.json", ".git", ".git/hooks", "deep/.github"])(
  "%s alone stays",
  async (name) => {
    const before = stateOf("app");
    const [answer] = await call(remove(`app/${name}`));
    expect(JSON.stringify(answer)).toContain("configuration protects");
    expect(stateOf("app")).toEqual(before);
  },
);

test("a folder stays that the configuration of git names, or holds what it names", async () => {
  execFileSync("git", ["init", "-q", at(".")]);
  execFileSync("git", ["-C", at("."), "config", "core.hooksPath", "tools/git/hooks"]);
  mkdirSync(at("tools/git/hooks"), { recursive: true });
  for (const path of ["tools", "tools/git", "tools/git/hooks"]) {
    const [answer] = await call(remove(path));
    expect(JSON.stringify(answer)).toContain("configuration protects");
  }
  expect(existsSync(at("tools/git/hooks"))).toBe(true);
});

test("a folder is not moved or copied with such files, since they would act elsewhere", async () => {
  const before = stateOf(".");
  for (const id of ["coder::move", "coder::copy"]) {
    const [answer] = await call([id, { files: [{ from: "app", to: "other/app" }] }]);
    expect(JSON.stringify(answer)).toContain("configuration protects");
  }
  expect(stateOf(".")).toEqual(before);
});

test("a folder stays that holds what the operator protects, and so does one that holds what is denied", async () => {
  const [answer] = await callWith(root, { ...agent, write_deny_globs: ["**/.npmrc"] }, remove("app"));
  expect(JSON.stringify(answer)).toContain("configuration protects");
  writeFileSync(at("app/.env"), "secret\n");
  const [denied] = await call(remove("app"));
  expect(JSON.stringify(denied)).toContain("C211");
  expect(readFileSync(at("app/.npmrc"), "utf8")).toBe(files["app/.npmrc"]);
});
