import { expect, test } from "bun:test";
import type { Backend, HeldFolder } from "./backend.ts";
import { holdByDescriptors } from "./descriptors.ts";
import type { Name } from "./folder.ts";
import { JailFixture } from "./jail.test-kit.ts";
import type { Folding, Naming } from "./name-comparison.ts";
import { resolveBeneath } from "./resolve-beneath.ts";
import { type WalkRules, walk } from "./walk.ts";

/**
 * Returns the path that is resolved beneath over "a" and "b" with such names in the base, and the folding
 * used for each folder on the way.
 */
function resolveWith(naming: Naming): [path: string | undefined, requested: Folding[]] {
  const requested: Folding[] = [];
  const backend = { canResolveBeneath: true, naming } as Backend;
  const deniesBelow = (names: readonly string[], folding: Folding) => {
    for (const _ of names) requested.push(folding);
    return false;
  };
  return [resolveBeneath({ backend, deniesBelow }, ["a", "b"], (path) => path), requested];
}

test("the way is judged in folded spelling where a folder on it might fold, which a leap does not see", () => {
  expect(resolveWith({ folding: "exact", isFlagged: false })).toEqual(["a/b", ["exact", "exact"]]);
  expect(resolveWith({ folding: "exact", isFlagged: true })).toEqual(["a/b", ["folded", "folded"]]);
  expect(resolveWith({ folding: "folded", isFlagged: false })).toEqual(["a/b", ["folded", "folded"]]);
});

test("where names may be found under others, each is taken by itself", () => {
  expect(resolveWith({ folding: "foreign", isFlagged: false })).toEqual([undefined, []]);
});

test.each([
  [false, ["a/b in one step"]],
  [true, ["a", "b"]],
])("a walk opens folders one by one if they may have the flag: %p", (isFlagged, expected) => {
  using fixture = new JailFixture({ "a/b/file": "" });
  const held = holdByDescriptors(fixture.base, "openat");
  const opened: string[] = [];
  const record = (folder: HeldFolder): HeldFolder =>
    new Proxy(folder, {
      get(target, key) {
        if (key === "child") {
          return (name: Name) => {
            opened.push(String(name));
            return record(target.child(name));
          };
        }
        if (key === "openFolderBeneath") {
          return (path: string) => {
            opened.push(`${path} in one step`);
            return target.openFolderBeneath!(path);
          };
        }
        const value: unknown = Reflect.get(target, key, target);
        return typeof value === "function" ? value.bind(target) : value;
      },
    });
  const rules: WalkRules = {
    backend: {
      ...held,
      canResolveBeneath: true,
      naming: { folding: "exact", isFlagged },
      base: (requested) => record(held.base(requested)),
    },
    linkRoots: () => [],
    rootDepth: 0,
    isRoot: false,
    requireNewNames() {},
    denies: () => false,
    deniesBelow: () => false,
  };
  using place = walk(rules, "a/b/file", { names: ["a", "b", "file"], folderOnly: false }, {});
  expect([place.path, opened]).toEqual(["a/b/file", expected]);
  held.close();
});
