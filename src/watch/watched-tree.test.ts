import { expect, test } from "bun:test";
import { appendFileSync, mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { openWatchedTree } from "./open-tree.ts";
import type { TreeListener, WatchedTree } from "./tree.ts";

function open(fixture: JailFixture, listener: TreeListener = {}): WatchedTree {
  const tree = openWatchedTree(fixture.jail("openat").admitFolder("."), listener);
  if (typeof tree === "string") throw new Error(tree);
  return tree;
}

const pathsOf = (tree: WatchedTree): string[] =>
  [...tree.filesBelow(tree.base)].map(({ folder, key }) => {
    let path = key;
    for (let at = folder; at.parent !== undefined; at = at.parent) path = `${at.name}/${path}`;
    return path;
  });

test("a built tree has the files in the order of a walk", async () => {
  using fixture = new JailFixture({ "a.b": "", "a/c": "", "a/b/x": "", "a-": "", "b/": null });
  const tree = open(fixture);
  expect(await tree.build()).toEqual({ isComplete: true });
  expect(pathsOf(tree)).toEqual(["a-", "a.b", "a/b/x", "a/c"]);
  tree.close();
});

test("a drain brings it up to date", async () => {
  using fixture = new JailFixture({ "a/b/x": "", "a/c": "" });
  const dirty: number[] = [];
  const tree = open(fixture, { onDirty: (file) => dirty.push(file) });
  await tree.build();
  const { version } = tree;
  appendFileSync(fixture.at("a/c"), "more");
  await tree.drain();
  expect(dirty.length).toBeGreaterThan(0);
  expect(tree.version).toBe(version);
  mkdirSync(fixture.at("new/deep"), { recursive: true });
  writeFileSync(fixture.at("new/deep/f"), "");
  renameSync(fixture.at("a/b"), fixture.at("moved"));
  rmSync(fixture.at("a/c"));
  expect(await tree.drain()).toEqual({ isComplete: true });
  expect(pathsOf(tree)).toEqual(["moved/x", "new/deep/f"]);
  tree.close();
});
