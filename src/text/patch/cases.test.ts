/**
 * Patches as git, diff and models send them. Each folder of `cases` has the tree `before`, the `patch`, the
 * `options` of the call, if any, and either the tree `after` or the `refusal`. An empty tree has no folder.
 */
import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { Refusal } from "../../base/errors.ts";
import { type PatchOptions, parse, patchedTree, type Texts, textsOf, treeFrom } from "./patch.test-kit.ts";

const root = join(import.meta.dirname, "cases");

function readTexts(folder: string): Texts {
  if (!existsSync(folder)) return {};
  const entries = readdirSync(folder, { recursive: true, withFileTypes: true });
  return Object.fromEntries(
    entries
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((file) => [file.slice(folder.length + 1), readFileSync(file, "utf8")]),
  );
}

/** Returns the tree after a patch, or the reason and sentence of its refusal. */
function outcomeOf(before: Texts, patch: Buffer, options: PatchOptions): Texts | string {
  try {
    return textsOf(patchedTree(treeFrom(before), patch, options));
  } catch (error) {
    if (error instanceof Refusal) return `${error.reason}: ${error.message}\n`;
    throw error;
  }
}

const names = readdirSync(root).sort();

describe("a patch of the case", () => {
  test.each(names)("%s", (name) => {
    const folder = join(root, name);
    const patch = readFileSync(join(folder, "patch"));
    const options = existsSync(join(folder, "options"))
      ? (JSON.parse(readFileSync(join(folder, "options"), "utf8")) as PatchOptions)
      : {};
    const refusal = join(folder, "refusal");
    const isRefused = existsSync(refusal);
    const wanted = isRefused ? readFileSync(refusal, "utf8") : readTexts(join(folder, "after"));
    const before = readTexts(join(folder, "before"));
    expect(outcomeOf(before, patch, options)).toEqual(wanted);
    // A format that is named gives the same as one that is found.
    if (!isRefused)
      expect(outcomeOf(before, patch, { ...options, format: parse(patch.toString()).format })).toEqual(
        wanted,
      );
  });
});

test("the cases are numbered without gaps, and there are many of each kind", () => {
  expect(names.map((name) => Number(name.slice(0, 3)))).toEqual(names.map((_, at) => at + 1));
  const refused = names.filter((name) => existsSync(join(root, name, "refusal"))).length;
  expect(refused).toBeGreaterThanOrEqual(40);
  expect(names.length - refused).toBeGreaterThanOrEqual(120);
});
