import { afterAll, beforeAll, expect, test } from "bun:test";
import { mkdirSync, rmSync } from "node:fs";
import { join } from "node:path";
import { buildTree, expandBase, snapshotTree } from "../harness/tree.ts";
import { temporaryFolder } from "../harness/worker-fixture.ts";
import { type Call, commonTree, type EscapeCase, forEachCall } from "./escape-case.ts";
import { escapeCases } from "./escape-cases.ts";
import { changedKeys, reachedForbidden } from "./probe.ts";
import { callUnjailed } from "./unjailed.ts";

let root: string;
/** The escape case that is built, unless a call has changed its tree. */
let standing: EscapeCase | undefined;

beforeAll(() => {
  root = temporaryFolder();
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

/** Returns whether a program without a jail shows or changes something forbidden. */
function isReached(call: Call, escapeCase: EscapeCase): boolean {
  if (standing !== escapeCase) buildTree(root, { ...commonTree, ...escapeCase.tree });
  const base = join(root, "base");
  const before = snapshotTree(root);
  const shown = callUnjailed(call, base, expandBase(escapeCase.unjailedPath ?? escapeCase.path, base));
  mkdirSync(base, { recursive: true }); // it may be gone too
  const changed = changedKeys(before, snapshotTree(root));
  standing = changed.length === 0 ? escapeCase : undefined;
  return reachedForbidden(shown, changed);
}

const calls = Object.keys(forEachCall("ok")) as Call[];

test.each(escapeCases.map((escapeCase) => [escapeCase.name, escapeCase] as const))(
  "without a jail, this is a danger or says why not: %s",
  (_, escapeCase) => {
    const expected = typeof escapeCase.reaches === "string" ? [] : escapeCase.reaches;
    expect(calls.filter((call) => isReached(call, escapeCase))).toEqual(
      calls.filter((call) => expected.includes(call)),
    );
    if (typeof escapeCase.reaches === "string") expect(escapeCase.reaches).toMatch(/\w+ \w+/);
  },
);

test("each escape case has a name of its own", () => {
  const names = escapeCases.map((escapeCase) => escapeCase.name);
  expect(names.filter((name, index) => names.indexOf(name) !== index)).toEqual([]);
});
