import { expect, test } from "bun:test";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { filesOver } from "../../filesystem/files/files.ts";
import { JailFixture } from "../../filesystem/jail/jail.test-kit.ts";
import { SharedTree } from "../../filesystem/watch/shared-tree.ts";
import { requestOf } from "../search.test-kit.ts";
import { FileTable } from "../signatures/file-records.ts";
import { SharedFolder } from "../walk/shared-folder.ts";
import { WatchedIndex } from "./watched-index.ts";

test("each file is compared once, and the first ones while the others are being listed", async () => {
  const paths = Array.from({ length: 1200 }, (_, file) => `d${100 + (file % 40)}/f${1000 + file}`).sort();
  using fixture = new JailFixture(Object.fromEntries(paths.map((path) => [path, ""])));
  const jail = fixture.jail("openat");
  const tree = new SharedTree({ openBase: () => jail.admitFolder(".") });
  const index = new WatchedIndex(tree);
  await index.opened();
  let slices = 0;
  const slice = {
    isDue: true,
    async yieldIfDue() {
      slices++;
      await new Promise((resolve) => setImmediate(resolve));
    },
  };
  const request = requestOf({});
  const walk = { jail, files: filesOver(jail, () => 0), ...request };
  const deadline = deadlineIn(60_000);
  const folder = new SharedFolder(jail.admitFolder("."));
  const jobs: { readonly slice: number; readonly paths: readonly string[] }[] = [];
  await index.confirm({ request, deadline, slice, folder, walk }, new FileTable().records, {
    filesAtOnce: 7,
    async run({ names, folders, firsts, count }) {
      const inFolders = folders.split("\0");
      const folderOf = (file: number) => inFolders[firsts.findLastIndex((first) => first <= file)];
      jobs.push({
        slice: slices,
        paths: names
          .split("\0")
          .slice(0, -1)
          .map((name, file) => `${folderOf(file)}${name}`),
      });
      return { records: new Int32Array(count).fill(-1) };
    },
  });
  expect(jobs.flatMap((job) => job.paths)).toEqual(paths);
  expect(jobs.every((job) => job.paths.length <= 7)).toBe(true);
  // The list takes several slices.
  expect(jobs.slice(0, 3).map((job) => job.slice)).toEqual([1, 2, 3]);
  deadline.end();
  folder.release();
  index.close();
  tree.close();
});
