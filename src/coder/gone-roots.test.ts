/** The answers over several roots while the folder of one is not there. */
import { expect, test } from "bun:test";
import { renameSync, writeFileSync } from "node:fs";
import { FeedFixture } from "./changes.test-kit.ts";

/** Opens two roots with a file each, and moves the folder of `two` away. */
async function withGoneRoot(profile: "agent" | "contract"): Promise<FeedFixture> {
  const feed = await new FeedFixture().openRoots(["one", "two"], { profile });
  for (const root of ["one", "two"]) writeFileSync(feed.at(`${root}/f`), "text\n");
  renameSync(feed.at("two"), feed.at("away"));
  return feed;
}

/** Calls a function, and takes its answer for one with these fields. */
const answerOf = async <T>(feed: FeedFixture, id: string, payload: object): Promise<T> =>
  (await feed.call(id, payload)) as T;

interface LeftOut {
  readonly not_searched?: readonly { readonly reason: string; readonly names?: readonly string[] }[];
}

const gone = { count: 1, names: ["two"], reason: "root_gone" };

/** Every way to search: in this thread, in others, in pages, by paths alone and by rank. */
test.each([
  { query: "text" },
  { query: "te.t", regex: true },
  { query: "text", max_matches: 1 },
  { query: "f", search_content: false },
  { query: "f", search_content: false, fuzzy_paths: true },
  { query: "text", sort: "modified" },
  { query: "text", include_globs: ["two/**"] },
])("a search over the roots names the one that is gone: %j", async (request) => {
  await using feed = await withGoneRoot("agent");
  const found = () => answerOf<LeftOut>(feed, "coder::search", request);
  expect((await found()).not_searched).toEqual([gone]);
  renameSync(feed.at("away"), feed.at("two"));
  expect((await found()).not_searched).toBeUndefined();
});

test("a search in another root does not name it, and one without later fields has no such field", async () => {
  await using feed = await withGoneRoot("agent");
  const inside = await answerOf<LeftOut>(feed, "coder::search", { query: "text", path: "one" });
  expect(inside.not_searched).toBeUndefined();
  await using older = await withGoneRoot("contract");
  expect(await older.call("coder::search", { query: "text" })).not.toHaveProperty("not_searched");
});

test("a replacement names it, planned or done", async () => {
  await using feed = await withGoneRoot("agent");
  const request = { query: "text", replacement: "new" };
  for (const dry_run of [true, false]) {
    const replaced = await answerOf<LeftOut>(feed, "coder::replace", { ...request, dry_run });
    expect(replaced).toMatchObject({ committed: !dry_run, not_searched: [gone] });
  }
});

interface Tree {
  readonly root: { readonly children: readonly { readonly name: string; readonly truncated?: object }[] };
}

test("a tree says that the root is gone, whatever its limits", async () => {
  await using feed = await withGoneRoot("agent");
  for (const limit of [{}, { max_depth: 1 }, { max_bytes: 48 }, { max_nodes: 3 }]) {
    const { root } = await answerOf<Tree>(feed, "coder::tree", limit);
    const truncated = { reason: "root_gone", hint: expect.stringContaining("removed or moved away") };
    expect(root.children[1]).toMatchObject({ name: "two", truncated });
  }
});

test("a listing and the description of the worker mark it, and the profile contract only the latter", async () => {
  await using feed = await withGoneRoot("agent");
  const { entries } = await answerOf<{ entries: object[] }>(feed, "coder::list-folder", {});
  expect(entries[1]).toMatchObject({ name: "two", gone: true });
  expect(entries[0]).not.toHaveProperty("gone");
  const roots = [
    { name: "one", read_only: false },
    { gone: true, name: "two", read_only: false },
  ];
  expect(await feed.call("coder::info", {})).toMatchObject({ roots });
  await using older = await withGoneRoot("contract");
  const listed = await answerOf<{ entries: object[] }>(older, "coder::list-folder", {});
  expect(listed.entries[1]).not.toHaveProperty("gone");
  const { root } = await answerOf<Tree>(older, "coder::tree", {});
  expect(root.children[1]).toMatchObject({ name: "two", truncated: { reason: "io_error" } });
});
