import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, readdirSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { foldersWith } from "./folders-with.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));

test("the folders on a long path that contain an entry are found, in folders that are missing too", () => {
  const deep = root + "/d".repeat(300);
  mkdirSync(deep, { recursive: true });
  const holders = [root, root + "/d".repeat(62), root + "/d".repeat(200), deep];
  for (const holder of holders) writeFileSync(join(holder, "marker"), "");
  const descriptors = () => readdirSync("/dev/fd").length;
  const before = descriptors();
  expect(foldersWith("marker", `${deep}${"/missing".repeat(200)}`)).toEqual(holders.toReversed());
  expect(descriptors()).toBe(before);
});

test("a path is looked up from the top", () => {
  expect(foldersWith(root.split("/")[1]!, dirname(root))).toContain("/");
  expect(foldersWith("no-such-entry", "/")).toEqual([]);
});
