import { expect, test } from "bun:test";
import { FollowedPath } from "./followed-path.ts";

const renameOf = (from: string, path: string) => ({ kind: "rename", from, path }) as const;

test("a path has the names before renames of itself and of the folders above it", async () => {
  const followed = new FollowedPath("new/a");
  await followed.follow({ steps: [renameOf("x", "new/a/x"), renameOf("a", "new/a")] }, async () => {});
  await followed.follow({ steps: [renameOf("old", "new"), renameOf("new", "newer")] }, async () => {});
  const paths = ["new/a/x/y", "a/b", "old/a", "newer/a", "old/b", "ab", "x"];
  expect(paths.filter((path) => followed.selects({ path }))).toEqual(["new/a/x/y", "a/b", "old/a"]);
  expect(followed.selects({ path: "elsewhere", from: "a/b" })).toBe(true);
});

test("a rename visits no names but those that it affects", async () => {
  const renames = 2000;
  const followed = new FollowedPath(`name${renames}`);
  let pauses = 0;
  const pause = async () => void pauses++;
  for (let index = renames; index > 0; index--)
    await followed.follow({ steps: [renameOf(`name${index - 1}`, `name${index}`)] }, pause);
  // One for the rename, and one for its name.
  expect(pauses).toBe(2 * renames);
  expect(followed.selects({ path: "name0" })).toBe(true);
});
