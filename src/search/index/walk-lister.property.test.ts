/** A list that takes unchanged parts from an earlier one equals a complete one. */
import { expect, spyOn, test } from "bun:test";
import { mkdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import fc from "fast-check";
import { propertyRuns } from "../../../tests/harness/random.ts";
import { runAtOnce } from "../../base/scheduling/time-slice.ts";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { openWatchedTree } from "../../filesystem/watch/open-tree.ts";
import type { WatchedTree } from "../../filesystem/watch/watched-tree.ts";
import { compileExcludeGlobs } from "../../text/globs/exclude-globs.ts";
import { IgnoreFiles } from "../ignore/ignore-files.ts";
import { attempt } from "./changes.test-kit.ts";
import { foldersTo } from "./listed-folder.ts";
import { basePathAt, type WalkList, walkedAt } from "./walk-list.ts";
import { type EarlierList, WalkLister } from "./walk-lister.ts";
import { WatchedFiles } from "./watched-files.ts";

const folders = fc.constantFrom(
  "",
  "a/",
  "a/b/",
  "a/b/c/",
  "d/",
  "d/e/",
  "node_modules/",
  ".git/",
  ".git/info/",
);
const names = fc.constantFrom(".gitignore", ".ignore", "exclude", "f1", "f2", "f3", "denied", "b", "g");
const path = fc.tuple(folders, names).map((parts) => parts.join(""));

type Change = (at: (path: string) => string) => void;

const changes: fc.Arbitrary<Change> = fc.oneof(
  {
    weight: 4,
    arbitrary: fc.tuple(path, fc.constantFrom("", "f1\n", "b/\nf2\n", "!f1\n")).map(([to, text]): Change => {
      return (at) => {
        mkdirSync(dirname(at(to)), { recursive: true });
        writeFileSync(at(to), text);
      };
    }),
  },
  path.map(
    (to): Change =>
      (at) =>
        rmSync(at(to), { recursive: true }),
  ),
  fc.tuple(folders, path).map(
    ([from, to]): Change =>
      (at) =>
        renameSync(at(from), at(to)),
  ),
  fc.tuple(path, path).map(
    ([from, to]): Change =>
      (at) =>
        renameSync(at(from), at(to)),
  ),
);

/** Opens a tree with ignore files and all that lists of it need. */
async function openTree(fixture: JailFixture) {
  const jail = fixture.jail("openat", ["**/denied"]);
  const watched = new WatchedFiles();
  const base = jail.admitFolder(".");
  const tree = openWatchedTree(base, watched) as WatchedTree;
  await tree.build();
  const options = {
    ...{ jail, watched, include: undefined, exclude: undefined },
    ignoreFiles: new IgnoreFiles(jail),
    defaultExcludes: compileExcludeGlobs(["**/node_modules/**", "**/.git/**"]),
  };
  /** Lists a folder, with parts of an earlier list if given. Returns `undefined` if it is missing. */
  const list = (names: readonly string[], earlier?: EarlierList) => {
    const folders = foldersTo(tree.base, names);
    if (folders === undefined) return undefined;
    using start = jail.admitFolder(names.join("/") || ".");
    const lister = new WalkLister(start, options);
    return runAtOnce(lister.run(folders, earlier)) ? lister : undefined;
  };
  return { jail, tree, options, list, watched };
}

/** Returns everything that a search takes from a list. */
const contentsOf = (list: WalkList) => ({
  entries: list.files.map((file, index) => [walkedAt(list, index), basePathAt(list, index), file]),
  folders: list.places.map(({ path, walked, inode }) => [path, walked, inode]),
  unmatchedGlobs: list.unmatchedGlobs,
});

test("a list with parts of an earlier one is like one without, and a current one too", async () => {
  let [current, partial] = [0, 0];
  await fc.assert(
    fc.asyncProperty(
      fc.array(changes, { minLength: 10, maxLength: 20 }),
      fc.array(fc.array(changes, { minLength: 1, maxLength: 3 }), { minLength: 10, maxLength: 20 }),
      fc.constantFrom([], [], ["a"], ["a", "b"]),
      async (initial, rounds, start) => {
        using fixture = new JailFixture();
        const at = (to: string) => fixture.at(to);
        mkdirSync(at("a/b"), { recursive: true });
        for (const change of initial) attempt(() => change(at));
        const { tree, watched, list } = await openTree(fixture);
        let earlier = list(start);
        let [version, rulesVersion] = [tree.version, watched.rulesVersion];
        for (const round of rounds) {
          for (const change of round) attempt(() => change(at));
          expect((await tree.drain()).isComplete).toBe(true);
          const anew = list(start);
          const hasSameRules = watched.rulesVersion === rulesVersion;
          if (earlier !== undefined && hasSameRules && earlier.isCurrent(version)) {
            current++;
            expect(contentsOf(earlier)).toEqual(contentsOf(anew!));
          }
          const updated = list(start, earlier && { list: earlier, version, hasSameRules });
          if (earlier !== undefined) partial++;
          expect(updated && contentsOf(updated)).toEqual(anew && contentsOf(anew));
          earlier = updated?.isLasting === true ? updated : undefined;
          [version, rulesVersion] = [tree.version, watched.rulesVersion];
        }
        tree.close();
      },
    ),
    propertyRuns(60),
  );
  expect(Math.min(current, partial)).toBeGreaterThan(0);
}, 600_000);

test("a change elsewhere compares no ignore files of folders that have not changed", async () => {
  const folders = Array.from({ length: 20 }, (_, index) => `${index}`);
  using fixture = new JailFixture({
    ...Object.fromEntries(folders.map((folder) => [`in/${folder}/.git/info/exclude`, "a\n"])),
    "elsewhere/a": "",
  });
  const { jail, tree, list } = await openTree(fixture);
  const [kept, { version }] = [list(["in"])!, tree];
  const denies = spyOn(jail, "denies");
  writeFileSync(fixture.at("elsewhere/b"), "");
  await tree.drain();
  expect(tree.version).toBeGreaterThan(version);
  expect(kept.isCurrent(version)).toBe(true);
  expect(denies).toHaveBeenCalledTimes(0);
  writeFileSync(fixture.at("in/1/.git/index"), "");
  await tree.drain();
  expect(kept.isCurrent(version)).toBe(true);
  expect(denies).toHaveBeenCalledTimes(1);
  rmSync(fixture.at("in/2/.git/info/exclude"));
  await tree.drain();
  expect(kept.isCurrent(version)).toBe(false);
  tree.close();
});

test("a list with very many folders in one, and the rules above a deep start, are made in steps", async () => {
  const start = Array.from({ length: 5 }, (_, depth) => `${depth}`);
  const paths = start.map((_, depth) => [...start.slice(0, depth), ".gitignore"].join("/"));
  using fixture = new JailFixture(Object.fromEntries(paths.map((path) => [path, `${path}\n`])));
  const add = (folder: number) => mkdirSync(fixture.at([...start, `in-${folder}`].join("/")));
  mkdirSync(fixture.at(start.join("/")));
  for (let folder = 0; folder < 4200; folder++) add(folder);
  const { jail, tree, options } = await openTree(fixture);
  using folder = jail.admitFolder(start.join("/"));
  /** Makes a list. Returns the number of steps before the first of its files or folders. */
  const make = (earlier?: EarlierList) => {
    const list = new WalkLister(folder, options);
    const steps = list.run(foldersTo(tree.base, start)!, earlier);
    let before = 0;
    while (!steps.next().done) if (list.places.length <= 1) before++;
    return { list, before };
  };
  const first = make();
  expect(first.before).toBeGreaterThanOrEqual(start.length);
  const { version } = tree;
  add(4200);
  await tree.drain();
  const second = make({ list: first.list, version, hasSameRules: false });
  expect(second.list.places).toHaveLength(4202);
  // The rules above are compared and then read, the places compared, and those in the folder collected.
  expect(second.before).toBeGreaterThanOrEqual(2 * start.length + Math.ceil(4201 / 16) + 1);
  tree.close();
}, 60_000);

test("names that costly ignore rules read are judged one in a step", async () => {
  const rules = Array.from({ length: 300 }, (_, length) => `${"a".repeat(length)}*`).join("\n");
  const names = Array.from({ length: 40 }, (_, index) => `${"a".repeat(200)}${index}`);
  for (const [text, least] of [
    [rules, names.length],
    ["a*\n", 0],
  ] as const) {
    using fixture = new JailFixture({
      ".gitignore": text,
      ...Object.fromEntries(names.map((name) => [name, ""])),
    });
    const { jail, tree, options } = await openTree(fixture);
    using folder = jail.admitFolder(".");
    const list = new WalkLister(folder, options);
    const steps = list.run(foldersTo(tree.base, [])!);
    let count = 0;
    while (!steps.next().done) count++;
    expect(count).toBeGreaterThanOrEqual(least);
    if (least === 0) expect(count).toBeLessThan(10);
    tree.close();
  }
});
