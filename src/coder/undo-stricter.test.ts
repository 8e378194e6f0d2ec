/** Undo where the configuration allows less than when the checkpoint was made. */
import { afterEach, beforeEach, expect, test } from "bun:test";
import { existsSync, mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { callWith } from "./call-with.test-kit.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
const base = join(root, "base");
const at = (path: string) => join(base, path);

beforeEach(() => mkdirSync(base, { recursive: true }));
afterEach(() => rmSync(root, { recursive: true }));

test("what is denied by now is neither shown nor undone", async () => {
  writeFileSync(at("plain"), "x");
  writeFileSync(at("token"), "y");
  await callWith(root, {}, ["coder::delete-file", { paths: ["plain", "token"] }]);
  const answers = await callWith(
    root,
    { non_accessible_globs: ["token"] },
    ["coder::checkpoints", {}],
    ["coder::checkpoints", { path: "token" }],
    ["coder::undo", { force: true, dry_run: true }],
    ["coder::undo", {}],
  );
  expect(JSON.stringify(answers)).toContain("plain");
  expect(JSON.stringify(answers)).not.toContain("token");
  expect([existsSync(at("plain")), existsSync(at("token"))]).toEqual([true, false]);
});

test("what was moved to a name that is denied by now stays there, and the name is not shown", async () => {
  writeFileSync(at("plain"), "x");
  await callWith(root, {}, ["coder::move", { files: [{ from: "plain", to: "token" }] }]);
  const answers = await callWith(
    root,
    { non_accessible_globs: ["token"] },
    ["coder::undo", {}],
    ["coder::undo", { seq: 1, force: true }],
  );
  expect(JSON.stringify(answers)).not.toContain("token");
  expect(existsSync(at("token"))).toBe(true);
});

test("what is protected by now is said, and left as it is with force", async () => {
  writeFileSync(at("plain"), "x");
  writeFileSync(at("kept"), "y");
  await callWith(root, {}, ["coder::delete-file", { paths: ["plain", "kept"] }]);
  const answers = await callWith(
    root,
    { write_deny_globs: ["kept"] },
    ["coder::undo", {}],
    ["coder::undo", { force: true, dry_run: true }],
    ["coder::undo", { paths: ["plain"] }],
  );
  const skipped = [{ path: "kept", reason: "protected" }];
  expect(answers).toMatchObject([
    { code: "C222", error: expect.stringContaining("Send `paths` without it") },
    { answer: { conflicts: [], undone: [{ seq: 1, restored: ["plain"], skipped }] } },
    { answer: { undone: [{ restored: ["plain"] }] } },
  ]);
  expect([existsSync(at("plain")), existsSync(at("kept"))]).toEqual([true, false]);
});

test("a root that is read-only by now is said to be", async () => {
  const roots = (isReadOnly: boolean) => ({
    roots: ["one", "two"].map((name) => ({
      ...{ name, path: at(name), read_only: isReadOnly && name === "one", non_accessible_globs: [] },
    })),
  });
  mkdirSync(at("one"));
  mkdirSync(at("two"));
  await callWith(root, roots(false), ["coder::create-file", { files: [{ path: "one/x", content: "" }] }]);
  expect(await callWith(root, roots(true), ["coder::undo", {}])).toMatchObject([
    { code: "C222", error: expect.stringContaining("one/x") },
  ]);
  expect(await callWith(root, roots(false), ["coder::undo", {}])).toMatchObject([
    { answer: { undone: [{ removed: ["one/x"] }] } },
  ]);
});
