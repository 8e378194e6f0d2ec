import { expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  linkSync,
  mkdirSync,
  renameSync,
  rmdirSync,
  rmSync,
  statSync,
  symlinkSync,
  truncateSync,
  unlinkSync,
  utimesSync,
  writeFileSync,
} from "node:fs";
import { TreeFixture, unwatchedIn } from "./watched-tree.test-kit.ts";
import type { TreeChange, WatchState } from "./watched-tree.ts";

const complete: WatchState = { isComplete: true };
const unlisted: WatchState = { isComplete: false, reason: "unlisted" };

test("a tree knows nothing before it is built, and then has the files in the order of a walk", async () => {
  using fixture = new TreeFixture({
    "a.b": "",
    "a/c": "",
    "a/b/x": "",
    "a-": "",
    "b/": null,
    l: { link: "a-" },
  });
  const { tree } = fixture;
  expect(await tree.drain()).toEqual(unlisted);
  expect(await tree.build()).toEqual(complete);
  expect(fixture.paths).toEqual(["a-", "a.b", "a/b/x", "a/c"]);
  expect(tree.base.keys).toEqual(["a-", "a.b", "a/", "b/", "l"]);
  expect(tree.base.entries.at(-1)).toBe("symlink");
  expect([tree.files, tree.folders, tree.unwatchedFolders]).toEqual([4, 4, 0]);
});

test("names that are not UTF-8 are mirrored byte by byte", async () => {
  using fixture = await new TreeFixture({ "\udcff\udc80/\udcfe": "" }).build();
  expect(fixture.paths).toEqual(["\xff\x80/\xfe"]);
  fixture.add({ "\udcff\udc80/ä": "" });
  expect(await fixture.drain()).toEqual([`\xff\x80/${Buffer.from("ä").toString("latin1")}`]);
});

test("each change of a content makes the file dirty, and no name", async () => {
  const files = ["mode", "times", "truncate", "write"];
  using fixture = await new TreeFixture(
    Object.fromEntries(["append", ...files].map((file) => [`d/${file}`, "text"])),
  ).build();
  const { version } = fixture.tree;
  expect(await fixture.drain()).toEqual([]);
  appendFileSync(fixture.at("d/append"), "more");
  expect(await fixture.drain()).toEqual(["d/append"]);
  writeFileSync(fixture.at("d/write"), "other");
  truncateSync(fixture.at("d/truncate"), 1);
  chmodSync(fixture.at("d/mode"), 0o600);
  utimesSync(fixture.at("d/times"), 1, 1);
  expect(await fixture.drain()).toEqual(files.map((file) => `d/${file}`));
  expect(fixture.tree.version).toBe(version);
});

test("a file that takes the name of another is dirty, and the list of files stays", async () => {
  using fixture = await new TreeFixture({ f: "one", "d/": null }).build();
  const { version } = fixture.tree;
  writeFileSync(fixture.at("../outside/f"), "two");
  renameSync(fixture.at("../outside/f"), fixture.at("f"));
  expect(await fixture.drain()).toEqual(["f"]);
  expect(fixture.tree.version).toBe(version);
});

test("folders that are new, moved in, within, out and away, with what is in them", async () => {
  using fixture = await new TreeFixture({ "a/b/c/f": "", "../outside/in/deep/f": "" }).build();
  const { version } = fixture.tree;
  mkdirSync(fixture.at("new/deep"), { recursive: true });
  writeFileSync(fixture.at("new/deep/f"), "");
  expect(await fixture.drain()).toEqual(["new/deep/f"]);
  expect(fixture.tree.version).toBeGreaterThan(version);
  renameSync(fixture.at("../outside/in"), fixture.at("in"));
  expect(await fixture.drain()).toEqual(["in/deep/f"]);
  renameSync(fixture.at("a/b"), fixture.at("in/b"));
  expect(await fixture.drain()).toEqual(["in/b/c/f"]);
  // Their watches follow them to their new places.
  appendFileSync(fixture.at("in/b/c/f"), "more");
  appendFileSync(fixture.at("in/deep/f"), "more");
  expect(await fixture.drain()).toEqual(["in/b/c/f", "in/deep/f"]);
  renameSync(fixture.at("in"), fixture.at("../outside/in"));
  expect(await fixture.drain()).toEqual([]);
  writeFileSync(fixture.at("../outside/in/deep/g"), "");
  rmSync(fixture.at("new"), { recursive: true });
  expect(await fixture.drain()).toEqual([]);
  expect(fixture.paths).toEqual([]);
  expect([fixture.tree.files, fixture.tree.folders]).toEqual([0, 2]);
});

test("a folder that moves within the tree was watched all the time, and a new one was not", async () => {
  let unseen = 0;
  using fixture = await new TreeFixture(
    { "a/b/c/f": "", "d/": null },
    { listener: { onUnseenWrite: () => unseen++ } },
  ).build();
  renameSync(fixture.at("a"), fixture.at("z"));
  expect(await fixture.drain()).toEqual(["z/b/c/f"]);
  renameSync(fixture.at("z/b"), fixture.at("d/b"));
  appendFileSync(fixture.at("d/b/c/f"), "more");
  expect(await fixture.drain()).toEqual(["d/b/c/f"]);
  expect(unseen).toBe(0);
  appendFileSync(fixture.at("d/b/c/f"), "more");
  expect(await fixture.drain()).toEqual(["d/b/c/f"]);
  // Its watches end once it has left the tree.
  renameSync(fixture.at("d/b"), fixture.at("../outside/b"));
  await fixture.drain();
  renameSync(fixture.at("../outside/b"), fixture.at("b"));
  await fixture.drain();
  // One for each folder in it.
  expect(unseen).toBe(2);
});

test("the version of a folder is that of the last change of its names", async () => {
  using fixture = await new TreeFixture({ "a/f": "", "b/f": "" }).build();
  const versions = () =>
    [fixture.tree.base, ...fixture.tree.base.entries].flatMap((entry) =>
      typeof entry === "object" ? [entry.changedAt] : [],
    );
  const before = versions();
  const { version } = fixture.tree;
  expect(before.every((changedAt) => changedAt <= version)).toBe(true);
  writeFileSync(fixture.at("b/g"), "");
  await fixture.drain();
  expect(versions()).toEqual([before[0]!, before[1]!, version + 1]);
  expect(fixture.tree.version).toBe(version + 1);
});

test("a folder that is replaced by another one has the files of that one", async () => {
  using fixture = await new TreeFixture({ "d/f": "", "../outside/d/g": "", "../outside/d/f": "" }).build();
  renameSync(fixture.at("d"), fixture.at("../outside/old"));
  renameSync(fixture.at("../outside/d"), fixture.at("d"));
  expect(await fixture.drain()).toEqual(["d/f", "d/g"]);
  appendFileSync(fixture.at("d/f"), "more");
  appendFileSync(fixture.at("../outside/old/f"), "more");
  expect(await fixture.drain()).toEqual(["d/f"]);
});

test("kinds change: a file, a folder and a link take each other's names", async () => {
  using fixture = await new TreeFixture({ x: "", y: { link: "x" }, "z/f": "" }).build();
  unlinkSync(fixture.at("x"));
  unlinkSync(fixture.at("y"));
  rmSync(fixture.at("z"), { recursive: true });
  mkdirSync(fixture.at("x"));
  writeFileSync(fixture.at("y"), "");
  symlinkSync("x", fixture.at("z"));
  expect(await fixture.drain()).toEqual(["y"]);
  expect(fixture.tree.base.keys).toEqual(["x/", "y", "z"]);
});

test("a folder that may not be read or entered is not watched, until it may be again", async () => {
  using fixture = await new TreeFixture({ "a/f": "", "b/c/f": "" }).build();
  // Root may read every folder.
  const expected = process.getuid!() === 0 ? [] : ["a unreadable", "b unreadable"];
  chmodSync(fixture.at("a"), 0o300);
  chmodSync(fixture.at("b"), 0o600);
  await fixture.drain();
  expect(unwatchedIn(fixture.tree.base)).toEqual(expected);
  expect(fixture.tree.unwatchedFolders).toBe(expected.length);
  for (const name of ["a", "b"]) chmodSync(fixture.at(name), 0o755);
  await fixture.drain();
  expect(fixture.tree.unwatchedFolders).toBe(0);
  appendFileSync(fixture.at("b/c/f"), "more");
  expect(await fixture.drain()).toEqual(["b/c/f"]);
});

test("what calls write under temporary names is no part of the tree", async () => {
  using fixture = await new TreeFixture({ ".coder-tmp-x": "" }).build();
  writeFileSync(fixture.at(".coder-tmp-y"), "");
  expect(await fixture.drain()).toEqual([]);
  renameSync(fixture.at(".coder-tmp-y"), fixture.at("y"));
  expect(await fixture.drain()).toEqual(["y"]);
  expect(fixture.paths).toEqual(["y"]);
});

test("another name of a file is reported with its inode, in a new folder too", async () => {
  using fixture = await new TreeFixture({ f: "" }).build();
  const inode = statSync(fixture.at("f"), { bigint: true }).ino;
  linkSync(fixture.at("f"), fixture.at("g"));
  await fixture.drain();
  mkdirSync(fixture.at("d"));
  linkSync(fixture.at("f"), fixture.at("d/h"));
  await fixture.drain();
  expect(fixture.reported.linked).toEqual([inode, inode]);
  // The kernel reports only the name under which a file is written.
  appendFileSync(fixture.at("d/h"), "more");
  expect(await fixture.drain()).toEqual(["d/h"]);
});

test("the base is the folder that was opened, wherever it is moved", async () => {
  using fixture = await new TreeFixture({ "d/f": "" }).build();
  renameSync(fixture.base, `${fixture.base}-away`);
  mkdirSync(fixture.base);
  writeFileSync(fixture.at("g"), "");
  writeFileSync(`${fixture.base}-away/d/h`, "");
  expect(await fixture.drain()).toEqual(["d/h"]);
  rmSync(fixture.base, { recursive: true });
  rmSync(`${fixture.base}-away/d`, { recursive: true });
  rmdirSync(`${fixture.base}-away`);
  expect(await fixture.drain()).toEqual([]);
  expect(fixture.paths).toEqual([]);
});

test("changes are reported in order, with both paths of a move", async () => {
  const changes: TreeChange[] = [];
  using fixture = await new TreeFixture(
    { "a/b/f": "", "../outside/in": "" },
    { listener: { onChange: (change) => changes.push(change) } },
  ).build();
  writeFileSync(fixture.at("g"), "text");
  renameSync(fixture.at("g"), fixture.at("a/h"));
  renameSync(fixture.at("a"), fixture.at("c"));
  appendFileSync(fixture.at("c/b/f"), "more");
  chmodSync(fixture.at("c/h"), 0o600);
  renameSync(fixture.at("../outside/in"), fixture.at("in"));
  unlinkSync(fixture.at("c/h"));
  renameSync(fixture.at("in"), fixture.at("../outside/in"));
  writeFileSync(fixture.at("in"), "");
  await fixture.drain();
  expect(
    changes.map(({ kind, isFolder, path, from }) => [
      kind,
      isFolder ? `${path}/` : `${path}`,
      `${from ?? ""}`,
    ]),
  ).toEqual([
    ["created", "g", ""],
    ["modified", "g", ""],
    ["moved", "a/h", "g"],
    ["moved", "c/", "a"],
    ["modified", "c/b/f", ""],
    ["attributes", "c/h", ""],
    ["created", "in", ""],
    ["removed", "c/h", ""],
    ["removed", "in", ""],
    ["created", "in", ""],
    ["modified", "in", ""],
  ]);
});

test("a step of reading ends with a change that took its listener long, and loses no later one", async () => {
  const moves: string[] = [];
  const onChange = ({ kind, path }: TreeChange) => {
    if (kind !== "moved") return undefined;
    moves.push(`${path}`);
    return path.toString() === "d4" ? undefined : "long";
  };
  using fixture = await new TreeFixture({ "d0/f": "" }, { listener: { onChange } }).build();
  for (let move = 0; move < 5; move++) renameSync(fixture.at(`d${move}`), fixture.at(`d${move + 1}`));
  const steps = fixture.tree.readEventsInSteps();
  const counts: number[] = [];
  while (!steps.next().done) counts.push(moves.length);
  expect(counts).toEqual([1, 2, 3, 5]);
  expect(moves).toEqual(["d1", "d2", "d3", "d4", "d5"]);
  await fixture.drain();
  expect(fixture.paths).toEqual(["d5/f"]);
});

test("names of a folder beside the tree are reported among the changes, until it is removed", async () => {
  const lines: string[] = [];
  using fixture = await new TreeFixture(
    { f: "", "../beside/": null },
    { listener: { onChange: ({ kind, path }) => lines.push(`${kind} ${path}`) } },
  ).build();
  const beside = fixture.at("../beside");
  const watch = () =>
    fixture.tree.watchBeside(beside, (name, isThere) => lines.push(`${name ?? "gone"} ${isThere}`));
  expect(fixture.tree.watchBeside(fixture.at("none"), () => {})).toBeUndefined();
  watch();
  renameSync(fixture.at("f"), fixture.at("../out"));
  mkdirSync(`${beside}/a`);
  mkdirSync(fixture.at("d"));
  renameSync(`${beside}/a`, `${beside}/b`);
  mkdirSync(fixture.at("e"));
  rmSync(beside, { recursive: true });
  await fixture.drain();
  const names = [
    "removed f",
    "a true",
    "created d",
    "a false",
    "b true",
    "created e",
    "b false",
    "gone false",
  ];
  expect(lines.splice(0)).toEqual(names);
  mkdirSync(beside);
  watch()!();
  mkdirSync(`${beside}/a`);
  await fixture.drain();
  expect(lines).toEqual([]);
});
