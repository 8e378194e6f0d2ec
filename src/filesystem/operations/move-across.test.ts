/**
 * Tests moves that take a copy and a removal, as between file systems. Here, the folders cannot be held open
 * at the same time.
 */
import { expect, test } from "bun:test";
import { rmSync, truncateSync, writeFileSync } from "node:fs";
import type { MutationListener } from "../disk/mutation.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";

const rewrite = (path: string) => writeFileSync(path, "theirs");
const replace = (path: string) => {
  rmSync(path);
  writeFileSync(path, "theirs");
};

test.each([
  ["a file that is rewritten", "file", rewrite],
  ["a file that is replaced", "file", replace],
  ["a link that is replaced", "link", replace],
] as const)("%s between its copy and its removal stays, and so does the copy", async (_, name, change) => {
  const from = `d/${name}`;
  const foreignWriter: MutationListener = {
    before({ kind, path }) {
      if (kind === "remove") change(bench.at(path));
    },
  };
  const tree = { "d/file": "ours", "d/link": { link: "file" }, "e/": null };
  const bench = new FilesFixture("current-directory", tree, { listeners: [foreignWriter] });
  using _closed = bench;
  const moving = { from, to: "e/moved", overwrite: false, parents: true };
  expect(await reasonOf(() => bench.files.move(moving, bench.call))).toBe("io");
  const copied = name === "link" ? { link: "file" } : "ours";
  expect(bench.tree()).toMatchObject({ [from]: "theirs", "e/moved": copied });
});

test("a large file is read ahead of each step", async () => {
  const size = 4 * 1024 * 1024;
  const seen: unknown[] = [];
  const listener: MutationListener = {
    async readAhead({ replaced, placed }) {
      seen.push([replaced()?.size, placed?.()?.size]);
    },
    before(mutation) {
      if (!mutation.isTree) seen.push(mutation.kind);
    },
  };
  using bench = new FilesFixture("current-directory", { "d/f": "", "e/": null }, { listeners: [listener] });
  truncateSync(bench.at("d/f"), size);
  await bench.files.move({ from: "d/f", to: "e/f", overwrite: false, parents: true }, bench.call);
  expect(seen).toEqual([[undefined, size], "rename", "create", [size, undefined], "remove"]);
});
