import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { temporaryFolder } from "../harness/served.ts";
import { buildTree, expandBase, snapshotTree } from "../harness/tree.ts";
import { type Call, everywhere, type Layout, surroundings } from "./layout.ts";
import { layouts } from "./layouts.ts";
import { callNaively } from "./naive.ts";
import { changedKeys, reachedForbidden } from "./witness.ts";

let root: string;
/** The layout that stands there as it was built. */
let standing: Layout | undefined;

beforeAll(() => {
  root = temporaryFolder();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Whether a program without a jail shows or changes what is forbidden. */
function isReached(call: Call, layout: Layout): boolean {
  if (standing !== layout) buildTree(root, { ...surroundings, ...layout.tree });
  const base = join(root, "base");
  const before = snapshotTree(root);
  const shown = callNaively(call, base, expandBase(layout.naivePath ?? layout.path, base));
  mkdirSync(base, { recursive: true }); // it may be gone too
  const changed = changedKeys(before, snapshotTree(root));
  standing = changed.length === 0 ? layout : undefined;
  return reachedForbidden(shown, changed);
}

const calls = Object.keys(everywhere("ok")) as Call[];

test.each(layouts.map((layout) => [layout.name, layout] as const))(
  "without a jail, this is a danger or says why not: %s",
  (_, layout) => {
    const expected = typeof layout.reaches === "string" ? [] : layout.reaches;
    expect(calls.filter((call) => isReached(call, layout))).toEqual(
      calls.filter((call) => expected.includes(call)),
    );
    if (typeof layout.reaches === "string") expect(layout.reaches).toMatch(/\w+ \w+/);
  },
);

test("each layout has a name of its own", () => {
  const names = layouts.map((layout) => layout.name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
