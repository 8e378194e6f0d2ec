/** Tests when searches take the files from a watched tree, when they do not, and that they say so. */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  linkSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  symlinkSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import type { Folder } from "../../filesystem/jail/folder.ts";
import { openWatchedTree, type Unwatchable } from "../../filesystem/watch/open-tree.ts";
import {
  SharedTree,
  type SharedTreeOptions,
  type TreeSubscription,
} from "../../filesystem/watch/shared-tree.ts";
import type { TreeListener } from "../../filesystem/watch/watched-tree.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { pageFrom } from "../pages.test-kit.ts";
import { openSearcher, type RequestFields } from "../search.test-kit.ts";
import { closing, openWatched } from "./watched.test-kit.ts";

test("the counts of a page are those of a scan", async () => {
  const { at, search } = await openWatched();
  const page = pageFrom(undefined);
  const whole = await search({ page });
  expect(whole).toMatchObject({ index: "watched", searched: { files: 20 }, content_matches: [] });
  const scan = await search({ pattern: "file", content: true, paths: false, page });
  expect(scan.index).toBe("scan");
  expect(whole.searched).toEqual(scan.searched!);
  rmSync(at("d/file0"));
  expect(await search({ page })).toMatchObject({ index: "watched", searched: { files: 19 } });
});

test("a search of paths takes them from the tree, and its pages are those of a scan", async () => {
  const { at, search } = await openWatched({ deny: ["e/file7"] });
  const scan = openSearcher(at(""), { backend: "openat", threads: 2, deny: ["e/file7"] });
  closing.push(scan.close);
  for (const folder of ["d/é", "e/sub", "node_modules"]) mkdirSync(at(folder));
  for (const file of ["d/é/file x", "e/sub/FILE", "node_modules/file", "file"]) writeFileSync(at(file), "");
  writeFileSync(at(".gitignore"), "file1*\nsub/\n");
  symlinkSync("d", at("link-to-file"));
  const fields = { content: false, respectsIgnoreFiles: true, isExtended: true };
  for (const pattern of ["file", "e/", "d/file1", "absent"])
    for (const maxMatches of [1, 3, 1000])
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const request = { ...fields, pattern, maxMatches, page: pageFrom(cursor) };
        const [found, expected] = [await search(request), await scan.search(request)];
        expect(found).toEqual({ ...expected, index: "watched" });
        cursor = found.next_cursor;
      }
  const upper = { ...fields, pattern: "FILE", ignoreCase: true, path: "e" };
  expect((await search(upper)).path_matches).toEqual((await scan.search(upper)).path_matches);
});

test("pages of results that are kept are those of a scan", async () => {
  const { at, search } = await openWatched({ deny: ["e/file7"] });
  const scan = openSearcher(at(""), { backend: "openat", threads: 2, deny: ["e/file7"] });
  closing.push(scan.close);
  const queries: readonly RequestFields[] = [
    { pattern: "file 4" },
    { pattern: "file (2|3|5|6)", regex: true, linesAfter: 1 },
    { pattern: "of file 6", mode: "counts" },
    { pattern: "file 5", maxLineBytes: 8 },
  ];
  for (const query of queries)
    for (const maxMatches of [1000, 3, 1, 1000])
      for (let cursor: string | undefined, isFirst = true; isFirst || cursor !== undefined; isFirst = false) {
        const request = { ...query, isExtended: true, paths: false, maxMatches, page: pageFrom(cursor) };
        const [found, expected] = [await search(request), await scan.search(request)];
        expect(found).toEqual({ ...expected, index: "watched" });
        cursor = found.next_cursor;
      }
});

test("the result in a file is not kept beyond a change of it", async () => {
  const { at, find, settle, searcher } = await openWatched();
  const request = { pattern: "needl\\w+t\\b", regex: true, paths: false };
  const sees = async (...paths: string[]) => {
    for (let search = 0; search < 3; search++) expect(await find(request)).toEqual(["watched", ...paths]);
    await settle();
    for (let search = 0; search < 3; search++) expect(await find(request)).toEqual(["watched", ...paths]);
  };
  for (const [text, ...paths] of [["needless"], ["needlest", "d/file2"], ["needlework"]]) {
    writeFileSync(at("d/file2"), text!);
    await searcher.index?.filled();
    await sees(...paths);
  }
});

test("each kind of change is seen by the next search", async () => {
  const { at, find, settle } = await openWatched();
  const sees = async (...paths: string[]) => {
    expect(await find()).toEqual(["watched", ...paths]);
    await settle();
    expect(await find()).toEqual(["watched", ...paths]);
  };
  await sees();
  writeFileSync(at("d/file2"), "a needle");
  await sees("d/file2");
  renameSync(at("d"), at("f"));
  await sees("f/file2");
  mkdirSync(at("g/h"), { recursive: true });
  linkSync(at("f/file2"), at("g/h/link"));
  await sees("f/file2", "g/h/link");
  writeFileSync(at("g/h/link"), "no more");
  await sees();
  appendFileSync(at("f/file2"), "a needle");
  await sees("f/file2", "g/h/link");
  symlinkSync("f", at("symlink"));
  rmSync(at("g"), { recursive: true });
  await sees("f/file2");
  writeFileSync(at("f/a needle"), "");
  expect(await find()).toEqual(["watched", "f/file2", "f/a needle"]);
});

/** A tree that is built again only when `mayBuild` resolves. */
class GatedTree extends SharedTree {
  mayBuild: Promise<void> = Promise.resolve();

  constructor(options: SharedTreeOptions) {
    const open = (base: Folder, listener: TreeListener) => {
      const tree = openWatchedTree(base, listener);
      if (typeof tree === "string") return tree;
      const build = tree.build.bind(tree);
      tree.build = async () => {
        await this.mayBuild;
        return build();
      };
      return tree;
    };
    super({ ...options, open });
  }
}

test("after more events than the kernel keeps, stamps are asked for until the tree is built again", async () => {
  const { at, find, searcher, tree } = await openWatched({ Tree: GatedTree });
  const { promise, resolve } = Promise.withResolvers<void>();
  (tree as GatedTree).mayBuild = promise;
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  const files = ["d/file2", "e/file1"].map((path) => openSync(at(path), "r+"));
  for (let i = 0; i <= limit; i++) for (const file of files) writeSync(file, "x", 0);
  writeSync(files[0]!, "needle", 0);
  for (const file of files) closeSync(file);
  expect(await find()).toEqual(["verified", "d/file2"]);
  resolve();
  await searcher.watched();
  expect(await find()).toEqual(["watched", "d/file2"]);
  expect(await find()).toEqual(["watched", "d/file2"]);
});

test("a link that was written to and is gone again has changed the file, and so has one in a new folder", async () => {
  const { at, find, settle } = await openWatched();
  const change = (link: string, text: string, from = "d/file2") => {
    linkSync(at(from), at(link));
    appendFileSync(at(link), text);
    rmSync(at(link));
  };
  change("d/link", "a needle");
  expect(await find()).toEqual(["watched", "d/file2"]);
  await settle();
  mkdirSync(at("new"));
  change("new/link", "a needle", "e/file1");
  rmSync(at("new"), { recursive: true });
  expect(await find()).toEqual(["watched", "d/file2", "e/file1"]);
  await settle();
  mkdirSync(at("new"));
  change("new/link", "a needle", "e/file3");
  expect(await find()).toEqual(["watched", "d/file2", "e/file1", "e/file3"]);
  await settle();
  linkSync(at("d/file4"), at("d/link"));
  renameSync(at("d/link"), at("d/file6"));
  appendFileSync(at("d/file6"), "a needle");
  renameSync(at("d/file6"), at("d/link"));
  rmSync(at("d/link"));
  writeFileSync(at("d/link"), "");
  expect(await find()).toEqual(["watched", "d/file2", "d/file4", "e/file1", "e/file3"]);
});

test("ignore files hold as they are now, also those of git that no search meets", async () => {
  const { at, find } = await openWatched();
  writeFileSync(at("d/file2"), "a needle");
  mkdirSync(at(".git/info"), { recursive: true });
  writeFileSync(at(".git/info/exclude"), "nothing\n");
  writeFileSync(at(".gitignore"), "nothing\n");
  const ignoring = { respectsIgnoreFiles: true };
  expect(await find(ignoring)).toEqual(["watched", "d/file2"]);
  writeFileSync(at(".git/info/exclude"), "file2\n");
  expect(await find(ignoring)).toEqual(["watched"]);
  writeFileSync(at(".gitignore"), "!file2\n");
  expect(await find(ignoring)).toEqual(["watched", "d/file2"]);
  writeFileSync(at("d/.ignore"), "file2\n");
  expect(await find(ignoring)).toEqual(["watched"]);
  rmSync(at("d/.ignore"));
  linkSync(at(".gitignore"), at("e/other"));
  writeFileSync(at("e/other"), "\n");
  expect(await find(ignoring)).toEqual(["watched"]);
  expect(await find()).toEqual(["watched", "d/file2"]);
});

test("denied files are in no list, and globs choose among the others", async () => {
  const { at, find } = await openWatched({ deny: ["d/secret*", "e"] });
  for (const path of ["d/secret", "d/file2.ts", "e/file1"]) writeFileSync(at(path), "a needle");
  expect(await find()).toEqual(["watched", "d/file2.ts"]);
  expect(await find({ include: compileGlobSet(["**/*.js"]) })).toEqual(["watched"]);
  expect(await find({ include: compileGlobSet(["**/*.ts"]) })).toEqual(["watched", "d/file2.ts"]);
  expect(await find({ path: "d", exclude: compileGlobSet(["**/*.ts"]) })).toEqual(["watched"]);
});

test("where the tree does not know all files, stamps are asked for, and the answer says so", async () => {
  const { at, find, searcher } = await openWatched();
  writeFileSync(at("d/file2"), "a needle");
  expect(searcher.index?.mode).toBe("watched");
  // A name without a path as text.
  mkdirSync(Buffer.from(`${at("e/")}\xff`, "latin1"));
  expect(await find()).toEqual(["verified", "d/file2"]);
  expect(await find({ path: "d" })).toEqual(["watched", "d/file2"]);
  expect(await find({ path: "d/file2", mayBeFile: true })).toEqual(["verified", "d/file2"]);
});

test("ignore files that are denied count for nothing, and keep no search from the list", async () => {
  for (const deny of ["**/.git/**", ".git/info"]) {
    const { at, find } = await openWatched({ deny: [deny] });
    mkdirSync(at(".git/info"), { recursive: true });
    for (const path of [".git/info/exclude", ".gitignore"]) writeFileSync(at(path), "nothing\n");
    expect(await find({ respectsIgnoreFiles: true })).toEqual(["watched"]);
  }
});

/** A tree whose drains wait for a promise of the test, if it sets one. */
class HeldTree extends SharedTree {
  held: (() => Promise<void>) | undefined;

  override subscribe(listener: TreeListener): TreeSubscription {
    const subscription = super.subscribe(listener) as TreeSubscription;
    const drain = async () => {
      const state = await subscription.drain();
      await this.held?.();
      return state;
    };
    return { ...subscription, drain };
  }
}

test("a searcher that is closed while a search asks the tree answers with what it has", async () => {
  const { search, searcher, tree } = await openWatched({ Tree: HeldTree });
  const other = tree.subscribe({}) as TreeSubscription;
  (tree as HeldTree).held = async () => searcher.index?.close();
  expect(await search({ path: "d" })).toMatchObject({ index: "verified", content_matches: [] });
  other.end();
});

/** A tree that cannot be watched at first, for lack of inotify instances. */
class LimitedTree extends SharedTree {
  #refusals = 1;

  override subscribe(listener: TreeListener): TreeSubscription | Unwatchable {
    return this.#refusals-- > 0 ? "limit" : super.subscribe(listener);
  }
}

test("where there are too many inotify instances, a later search begins to watch", async () => {
  const { find, searcher } = await openWatched({ Tree: LimitedTree });
  while (searcher.index?.mode !== "watched") await find();
  expect(await find()).toEqual(["watched"]);
});

test("a page spends no more than half of its time on the tree", async () => {
  const { at, search, tree } = await openWatched({ Tree: HeldTree });
  writeFileSync(at("d/file2"), "a needle");
  (tree as HeldTree).held = () => new Promise(() => {});
  const page = { ...pageFrom(undefined), milliseconds: 2000 };
  expect(await search({ page })).toMatchObject({ index: "verified", content_matches: [{ path: "d/file2" }] });
  expect(await search({ page, content: false })).toMatchObject({ index: "scan" });
});

test("a page that has to begin again without the tree has no more time than one that has not", async () => {
  const { at, search, tree } = await openWatched({ Tree: HeldTree });
  (tree as HeldTree).held = () => Bun.sleep(800);
  let compared = 0;
  const matches = () => {
    // The list is made from the tree at once, and the walk after that takes 1.5 s.
    if (++compared === 20) renameSync(at("d"), at("f"));
    const ends = performance.now() + (compared > 20 ? 75 : 0);
    while (performance.now() < ends);
    return true;
  };
  const page = { ...pageFrom(undefined), milliseconds: 2000 };
  expect(await search({ page, include: { matches }, pattern: "text of file 10" })).toMatchObject({
    index: "verified",
    stopped_by: "deadline",
  });
});

test("a search does not wait for the tree beyond its deadline", async () => {
  const { search, tree } = await openWatched({ Tree: HeldTree });
  (tree as HeldTree).held = () => new Promise(() => {});
  expect(await search({}, 50)).toMatchObject({ truncated: true });
});
