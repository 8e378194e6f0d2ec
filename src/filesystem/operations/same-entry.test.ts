import { describe, expect, test } from "bun:test";
import type { Tree } from "../../../tests/harness/tree.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { FilesFixture } from "../files/files.test-kit.ts";
import type { Folder, ResolvedPath } from "../jail/folder.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { type Relation, relationOf } from "./same-entry.ts";

/** Returns a place whose folder finds all its names and lists only some, like one that folds names. */
function listing(place: ResolvedPath, listed: readonly string[]): ResolvedPath {
  const folder: Folder = Object.create(place.folder, {
    enter: { value: place.folder.enter.bind(place.folder) },
    list: {
      *value(onDirent: Parameters<Folder["list"]>[0]) {
        for (const name of listed) {
          onDirent(Buffer.from(name), 0, Buffer.byteLength(name), "file");
          yield;
        }
      },
    },
    path: { value: place.folder.path },
  });
  return Object.create(place, {
    folder: { value: folder },
    ...Object.fromEntries(
      (["name", "sentName", "path", "stats"] as const).map((key) => [key, { value: place[key] }]),
    ),
  });
}

describe.each(backends)("%s", (backend) => {
  function relate(tree: Tree, [from, to]: readonly [string, string], listed?: readonly string[]): Relation {
    using bench = new FilesFixture(backend, tree);
    const options = { lastLink: "stay", mayBeMissing: true } as const;
    using source = bench.jailed.admit(from, options);
    using target = bench.jailed.admit(to, options);
    return runAtOnce(
      relationOf(
        listed === undefined
          ? { source, target }
          : { source: listing(source, listed), target: listing(target, listed) },
      ),
    );
  }

  test("two entries are apart, linked when they are one file, and the same when they are one entry", () => {
    const tree: Tree = { a: "", b: { hardlink: "a" }, "d/c": { hardlink: "a" }, e: "", l: { link: "d" } };
    expect(relate(tree, ["a", "e"])).toBe("apart");
    expect(relate(tree, ["a", "none"])).toBe("apart");
    expect(relate(tree, ["a", "b"])).toBe("linked");
    expect(relate(tree, ["a", "d/c"])).toBe("linked");
    expect(relate(tree, ["d/c", "l/c"])).toBe("same");
    expect(relate(tree, ["d", "./d"])).toBe("same");
    expect(relate({ "d/": null, "e/": null }, ["d", "e"])).toBe("apart");
  });

  test("what a folder finds under two names is one entry where it lists only one of them", () => {
    const oneEntry: Tree = { "a.txt": "", "A.txt": { hardlink: "a.txt" }, "a.TXT": { hardlink: "a.txt" } };
    const listed = ["a.txt"];
    expect(relate(oneEntry, ["a.txt", "A.txt"], listed)).toBe("respelled");
    expect(relate(oneEntry, ["A.txt", "a.TXT"], listed)).toBe("respelled");
    expect(relate(oneEntry, ["A.txt", "a.txt"], listed)).toBe("same");
    expect(relate(oneEntry, ["A.txt", "A.txt"], listed)).toBe("same");
    expect(relate(oneEntry, ["a.txt", "A.txt"], ["a.txt", "A.txt"])).toBe("linked");
  });
});

test("two names of one file are found in a step for each part of a listing", () => {
  using bench = new FilesFixture("openat", { a: "", b: { hardlink: "a" } });
  using source = bench.jailed.admit("a");
  using target = bench.jailed.admit("b");
  const listed = ["c", "d", "a", "b"];
  const comparing = relationOf({ source: listing(source, listed), target: listing(target, listed) });
  let steps = 0;
  let step = comparing.next();
  for (; !step.done; step = comparing.next()) steps++;
  expect([step.value, steps]).toEqual(["linked", 3 + 2]);
});
