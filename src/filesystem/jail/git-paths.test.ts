import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { GitPaths } from "./git-paths.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, ".git"));

const paths = new GitPaths({ home: undefined, configFiles: [] });

test("the paths among very many variables are found, and again when the file has changed", () => {
  const branches = Array.from({ length: 10_000 }, (_, index) => `[branch "${index}"]\n\tremote = origin\n`);
  const config = (hooks: string) => `${branches.join("")}[core]\n\thooksPath = ${hooks} # hooks\n`;
  for (const hooks of ["hooks", "hooks", "others"]) {
    writeFileSync(join(root, ".git/config"), config(hooks));
    expect(paths.namedFor(root)).toEqual([join(root, hooks)]);
    expect(paths.programsFor(root)).toEqual([join(root, hooks)]);
  }
});

test("all configuration of a repository is read up to 2 MiB", () => {
  const files = ["a", "b", "c"];
  for (const file of files) {
    const text = `[core]\n\thooksPath = of-${file}\n${" ".repeat(1000)}`;
    writeFileSync(join(root, file), text.padEnd(900_000));
  }
  writeFileSync(join(root, ".git/config"), files.map((file) => `[include]\n\tpath = ../${file}\n`).join(""));
  expect(paths.namedFor(root)).toEqual(["a", "b", "c", "of-a", "of-b"].map((name) => join(root, name)));
});
