/** The feed over several roots, each of which is watched. */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  mkdirSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { FeedFixture } from "./changes.test-kit.ts";

/** Returns the changes since the last call, sorted: nothing orders the events of two roots. */
const takeSorted = async (feed: FeedFixture) => (await feed.take()).sort();

const create = (path: string, content = "text\n") => ({ files: [{ path, content, parents: true }] });

test("with several roots, changes are reported with the root that they are in", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  await feed.call("coder::create-file", create("two/d/f"));
  writeFileSync(feed.at("one/g"), "");
  const { external, changes } = await feed.pull({ since: feed.next });
  expect([external, changes.map(({ path, root, cause }) => [path, root, cause.by])]).toEqual([
    true,
    [
      ["two/d", "two", "call"],
      ["two/d/f", "two", "call"],
      ["one/g", "one", "external"],
    ],
  ]);
  expect((await feed.pull({ since: feed.next, path: "two/d" })).changes).toHaveLength(2);
});

test("changes by calls and by other programs in two roots are reported in order, each once", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  const reported: string[] = [];
  const after = async (change: unknown) => {
    await change;
    reported.push(...(await takeSorted(feed)));
  };
  await after(writeFileSync(feed.at("two/f"), ""));
  await after(feed.call("coder::create-file", create("one/d/f")));
  await after(appendFileSync(feed.at("one/d/f"), "more\n"));
  await after(feed.call("coder::create-file", create("two/g")));
  await after(renameSync(feed.at("two/f"), feed.at("one/f")));
  await after(feed.call("coder::move", { files: [{ from: "one/d", to: "one/e" }] }));
  await after(appendFileSync(feed.at("one/e/f"), "more\n"));
  await after(renameSync(feed.at("two/g"), feed.at("two/h")));
  expect(reported).toEqual([
    "created two/f by external",
    "created one/d/ by create-file",
    "created one/d/f by create-file",
    "modified one/d/f by external",
    "created two/g by create-file",
    "created one/f by external",
    "deleted two/f by external",
    "moved one/d/ to one/e/ by move",
    "modified one/e/f by external",
    "moved two/g to two/h by external",
  ]);
  expect(await feed.take()).toEqual([]);
});

test("what a call moves from one root into another is a copy and a removal, by that call alone", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  for (const path of ["one/d/e/f", "one/g", "one/h"]) await feed.call("coder::create-file", create(path));
  await feed.take();
  await feed.call("coder::move", { files: [{ from: "one/d", to: "two/d" }] });
  await feed.call("coder::move", { files: [{ from: "one/g", to: "two/g" }] });
  await feed.call("coder::transact", { changes: [{ op: "move", from: "one/h", to: "two/h" }] });
  expect(await feed.take()).toEqual([
    "created two/d/ by move",
    "deleted one/d/ by move",
    "created two/g by move",
    "deleted one/g by move",
    "created two/h by transact",
    "deleted one/h by transact",
  ]);
  appendFileSync(feed.at("two/d/e/f"), "more\n");
  expect(await feed.take()).toEqual(["modified two/d/e/f by external"]);
});

test("what is denied in a root is not there", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"], {}, ["private/**"]);
  for (const root of ["one", "two"]) {
    mkdirSync(feed.at(`${root}/private`));
    writeFileSync(feed.at(`${root}/private/f`), "");
    writeFileSync(feed.at(`${root}/.env`), "SECRET=1");
  }
  await feed.take();
  renameSync(feed.at("one/private/f"), feed.at("one/f"));
  renameSync(feed.at("two/.env"), feed.at("two/env"));
  expect(await takeSorted(feed)).toEqual(["created one/f by external", "created two/env by external"]);
  expect(feed.next).toMatch(/:[24]$/);
});

test("what happens in a root within a root has one path", async () => {
  await using feed = await new FeedFixture().openRoots(["outer", "outer/d/inner"]);
  writeFileSync(feed.at("outer/d/inner/f"), "");
  writeFileSync(feed.at("outer/d/f"), "");
  expect(await takeSorted(feed)).toEqual(["created inner/f by external", "created outer/d/f by external"]);
  await feed.call("coder::create-file", create("inner/e/g"));
  await feed.call("coder::move", { files: [{ from: "inner/f", to: "outer/g" }] });
  expect(await feed.take()).toEqual([
    "created inner/e/ by create-file",
    "created inner/e/g by create-file",
    "created outer/g by move",
    "deleted inner/f by move",
  ]);
  renameSync(feed.at("outer/d/inner/e/g"), feed.at("outer/d/g"));
  expect(await takeSorted(feed)).toEqual(["created outer/d/g by external", "deleted inner/e/g by external"]);
  rmSync(feed.at("outer/d/inner/e"), { recursive: true });
  expect(await feed.take()).toEqual(["deleted inner/e/ by external"]);
});

test("a root that is gone is said, and so is that it is back; the others go on meanwhile", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  writeFileSync(feed.at("two/f"), "");
  await feed.take();
  rmSync(feed.at("two"), { recursive: true });
  writeFileSync(feed.at("one/f"), "");
  const gone = await feed.pull({ since: feed.next });
  expect([gone.external, gone.overflow]).toEqual([false, true]);
  expect(await takeSorted(feed)).toEqual(["created one/f by external", "deleted two/f by external", "gap"]);
  await feed.call("coder::create-file", create("one/g"));
  appendFileSync(feed.at("one/f"), "more\n");
  expect((await feed.pull({ since: feed.next })).external).toBe(false);
  expect(await feed.take()).toEqual(["created one/g by create-file", "modified one/f by external"]);
  mkdirSync(feed.at("two"));
  writeFileSync(feed.at("two/before"), "");
  expect((await feed.pull({ since: feed.next })).external).toBe(true);
  expect(await feed.take()).toEqual(["gap"]);
  writeFileSync(feed.at("two/g"), "");
  await feed.call("coder::create-file", create("two/h"));
  appendFileSync(feed.at("two/h"), "more\n");
  expect(await feed.take()).toEqual([
    "created two/g by external",
    "created two/h by create-file",
    "modified two/h by external",
  ]);
});

test("a root that goes and comes back is named, each time once, to readers of its paths", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"], { profile: "agent" });
  const since = feed.next;
  const kindsAt = async (request: object) =>
    (await feed.pull({ since, ...request })).changes.map(({ kind, path, root }) => [kind, path, root]);
  for (let round = 0; round < 2; round++) {
    renameSync(feed.at("two"), feed.at("away"));
    const gone = await feed.pull({ since });
    expect(gone).toMatchObject({ external: false, unreported_roots: ["two"], overflow: true });
    expect(gone.note).toStartWith("Some changes in two are not known: read again what you hold of that,");
    renameSync(feed.at("away"), feed.at("two"));
    expect(await feed.pull({ since })).not.toHaveProperty("unreported_roots");
  }
  const round = [
    ["deleted", "two", "two"],
    ["created", "two", "two"],
  ];
  expect(await kindsAt({})).toEqual([...round, ...round]);
  expect(await kindsAt({ path: "two/d" })).toEqual([...round, ...round]);
  expect(await kindsAt({ path: "one" })).toEqual([]);
  expect(await kindsAt({ fs_scope: { root: "one" } })).toEqual([]);
});

test("contents that calls read or write in the other roots are still known after one is gone", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"], { profile: "agent" });
  writeFileSync(feed.at("one/f"), "before\n");
  renameSync(feed.at("two"), feed.at("away"));
  const diffAfter = async (path: string, text: string) => {
    const since = feed.next;
    writeFileSync(feed.at(path), text);
    await feed.take();
    const { net } = (await feed.call("coder::changes", { since, answer: "diff" })) as {
      net: readonly { readonly diff?: string }[];
    };
    return net[0]?.diff;
  };
  await feed.call("coder::create-file", create("one/g", "before\n"));
  await feed.take();
  expect(await diffAfter("one/g", "after\n")).toContain("-before");
  // A content counts once the feed has been drained in a later tick of the file system's clock.
  let diff: string | undefined;
  for (let text = "0\n"; diff === undefined; text += "more\n") {
    await feed.take();
    await feed.call("coder::read-file", { path: "one/f" });
    diff = await diffAfter("one/f", text);
  }
  expect(diff).toContain("+++ b/one/f");
});

test("a root that another folder has taken the place of is a gap, and calls there are reported", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  rmSync(feed.at("two"), { recursive: true });
  mkdirSync(feed.at("two"));
  await feed.call("coder::create-file", create("two/f"));
  expect(await feed.take()).toEqual(["created two/f by create-file", "gap"]);
  appendFileSync(feed.at("two/f"), "more\n");
  await feed.call("coder::delete-file", { paths: ["two/f"] });
  expect(await feed.take()).toEqual(["modified two/f by external", "deleted two/f by delete-file"]);
});

test("an overflow of one root's queue is said, and what comes after is reported in both", async () => {
  await using feed = await new FeedFixture().openRoots(["one", "two"]);
  for (const name of ["a", "b"]) writeFileSync(feed.at(`one/${name}`), "");
  await feed.take();
  const files = ["a", "b"].map((name) => openSync(feed.at(`one/${name}`), "r+"));
  const limit = Number(readFileSync("/proc/sys/fs/inotify/max_queued_events", "utf8"));
  for (let i = 0; i <= limit; i++) for (const file of files) writeSync(file, "x", 0);
  for (const file of files) closeSync(file);
  writeFileSync(feed.at("two/f"), "");
  const { external, changes } = await feed.pull({ since: feed.next });
  expect(external).toBe(true);
  expect(changes.map(({ path, overflow }) => [path, overflow]).toSorted()).toEqual([
    ["one", true],
    ["two/f", undefined],
  ]);
  await feed.take();
  for (const path of ["one/a", "two/f"]) appendFileSync(feed.at(path), "more");
  expect(await takeSorted(feed)).toEqual(["modified one/a by external", "modified two/f by external"]);
});
