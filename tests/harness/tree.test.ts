import { afterAll, expect, test } from "bun:test";
import { chmodSync, lstatSync, readlinkSync, rmSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import {
  applyChanges,
  buildTree,
  compareSnapshots,
  gone,
  mtime,
  snapshotTree,
  type Tree,
  treeOf,
} from "./tree.ts";
import { temporaryFolder } from "./worker-fixture.ts";

const root = temporaryFolder();
const base = join(root, "base");
afterAll(() => rmSync(root, { recursive: true }));

const everything: Tree = {
  "../outside/secret.txt": "outside-secret",
  "a.txt": { text: "a", mode: 0o600 },
  "bad\udcff.txt": "b",
  bytes: Buffer.from("/w==", "base64"),
  "empty/": null,
  hard: { hardlink: "../outside/secret.txt" },
  ln: { link: "<base>/a.txt" },
  pipe: { fifo: true },
  "sub/deep/c.txt": "c",
};

test("a built tree is found again as it was described, outside included", () => {
  buildTree(root, everything);
  const found = Object.fromEntries(
    [...snapshotTree(root)].map(([key, { kind, mode, content }]) => [key, [kind, mode, content]]),
  );
  expect(found).toEqual({
    "../outside/": ["dir", expect.any(Number), ""],
    "../outside/secret.txt": ["file", 0o644, "outside-secret"],
    "a.txt": ["file", 0o600, "a"],
    "bad\udcff.txt": ["file", 0o644, "b"],
    bytes: ["file", 0o644, "\xff"],
    "empty/": ["dir", 0o755, ""],
    hard: ["file", 0o644, "outside-secret"],
    ln: ["symlink", undefined, `${base}/a.txt`],
    pipe: ["other", 0o644, ""],
    "sub/": ["dir", expect.any(Number), ""],
    "sub/deep/": ["dir", expect.any(Number), ""],
    "sub/deep/c.txt": ["file", 0o644, "c"],
  });
});

test("the tree of a snapshot is what was described in the base, without modes", () => {
  const described: Tree = {
    a: "\u00e4",
    "bad\udcff": "b",
    "d/e/": null,
    ln: { link: "\udcff/x" },
    p: { fifo: true },
  };
  buildTree(root, { "../outside/x": "x", ...described });
  expect(treeOf(snapshotTree(root))).toEqual({ ...described, "d/": null });
});

test("links lead to the base and to the folder above", () => {
  buildTree(root, { in: { link: "<base>/a" }, out: { link: "<root>/a" } });
  expect([readlinkSync(join(base, "in")), readlinkSync(join(base, "out"))]).toEqual([
    `${base}/a`,
    `${root}/a`,
  ]);
});

test("everything carries the one time stamp, the base and links too", () => {
  buildTree(root, everything);
  for (const name of ["", "a.txt", "ln", "sub", "pipe"])
    expect(lstatSync(join(base, name)).mtimeMs).toBe(mtime * 1000);
});

test("building again leaves nothing of the tree before, and the base is the same folder", () => {
  buildTree(root, everything);
  const { ino } = lstatSync(base);
  buildTree(root, { b: "b" });
  expect([...snapshotTree(root).keys()]).toEqual(["b"]);
  expect(lstatSync(base).ino).toBe(ino);
});

test("a difference in bytes, mode, presence or absence is seen", () => {
  buildTree(root, { a: "a", b: "b" });
  const before = snapshotTree(root);
  writeFileSync(join(base, "a"), "A");
  chmodSync(join(base, "b"), 0o600);
  writeFileSync(join(base, "c"), "c");
  expect(compareSnapshots(snapshotTree(root), before)).toEqual([
    'a is file 644 "A", should be file 644 "a"',
    'b is file 600 "b", should be file 644 "b"',
    "c should not be there",
  ]);
  expect(compareSnapshots(before, snapshotTree(root))).toContain("c is missing");
});

test("expected changes are what they say", () => {
  buildTree(root, { a: { text: "a", mode: 0o755 }, "s/t/b": "b", c: "c" });
  const before = snapshotTree(root);
  const after = applyChanges(before, { a: "A", "s/": gone, c: gone, "n/m/d": "d" }, base);
  expect([...after].map(([key, found]) => [key, found.mode, found.content])).toEqual([
    ["a", 0o755, "A"],
    ["n/", undefined, ""],
    ["n/m/", undefined, ""],
    ["n/m/d", 0o644, "d"],
  ]);
});
