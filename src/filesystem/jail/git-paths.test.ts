import { afterAll, expect, test } from "bun:test";
import { mkdirSync, mkdtempSync, realpathSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { areInRepository, GitPaths } from "./git-paths.ts";

const root = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
afterAll(() => rmSync(root, { recursive: true }));
mkdirSync(join(root, ".git"));

const paths = new GitPaths({ home: undefined, configFiles: [] });
const pathsFor = (git: GitPaths, folder: string) => git.namedFor(folder).map(({ path }) => path);

test("the paths among very many variables are found, and again when the file has changed", () => {
  const branches = Array.from({ length: 10_000 }, (_, index) => `[branch "${index}"]\n\tremote = origin\n`);
  const config = (hooks: string) => `${branches.join("")}[core]\n\thooksPath = ${hooks} # hooks\n`;
  for (const hooks of ["hooks", "hooks", "others"]) {
    writeFileSync(join(root, ".git/config"), config(hooks));
    expect(pathsFor(paths, root)).toEqual([join(root, hooks)]);
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
  expect(pathsFor(paths, root)).toEqual(["a", "b", "c", "of-a", "of-b"].map((name) => join(root, name)));
});

test("paths are relative to the working tree, those of included files to the file that names them", () => {
  mkdirSync(join(root, "sub"));
  mkdirSync(join(root, "folder"));
  writeFileSync(
    join(root, "sub/more"),
    '[alias]\n\tx = "!sh ./a/b.sh | c"\n[diff "d"]\n\ttextconv = ~/bin/show\n',
  );
  writeFileSync(
    join(root, ".git/config"),
    '[include]\n\tpath = ../sub/more\n[core]\n\thooksPath = hooks\n\tpager = less -R\n[alias]\n\tcd = "!cd ./folder && ls"\n',
  );
  const atHome = new GitPaths({ home: "/h", configFiles: [] });
  expect(pathsFor(atHome, root)).toEqual(
    ["sub/more", "hooks", "a/b.sh"].map((path) => join(root, path)).concat("/h/bin/show"),
  );
});

test("files that include each other are read once", () => {
  const file = join(root, ".git/config");
  writeFileSync(file, `[include]\n\tpath = ${file}\n`);
  expect(pathsFor(paths, root)).toEqual([file]);
});

test("names of paths are looked up to a bound, whichever files and repositories name them", () => {
  const aliases = Array.from({ length: 100_000 }, (_, index) => `a = /${index}\n`);
  writeFileSync(join(root, ".git/config"), `[alias]\n${aliases.join("")}`);
  const inner = join(root, "inner");
  mkdirSync(join(inner, ".git"), { recursive: true });
  writeFileSync(join(inner, ".git/config"), "[alias]\na = b/c\n");
  const named = pathsFor(paths, inner);
  expect(named).toContain(join(inner, "b/c"));
  expect(named.length).toBeLessThan(1025);
  const deep = "/d".repeat(100);
  writeFileSync(join(root, ".git/config"), `[alias]\n${aliases.map((line) => line + deep).join("")}`);
  expect(pathsFor(paths, root).length).toBeLessThan(21);
});

test("a file `.git` is read as a path, whatever follows it", () => {
  const link = join(root, "work");
  mkdirSync(link);
  writeFileSync(join(link, ".git"), `gitdir: ../.git${" ".repeat(1_000_000)}x`);
  expect(pathsFor(paths, link)).toContain(join(root, ".git"));
});

test("links on paths are followed to the bound of names that they contain", () => {
  mkdirSync(join(root, "linked/bin"), { recursive: true });
  symlinkSync("bin", join(root, "linked/short"));
  symlinkSync(`${"./".repeat(300)}bin`, join(root, "linked/long"));
  const aliases = ["short", "long"].flatMap((link) =>
    Array.from({ length: 20 }, (_, index) => `a = ./linked/${link}/${link}${index}\n`),
  );
  writeFileSync(join(root, ".git/config"), `[alias]\n${aliases.join("")}`);
  const named = paths.namedFor(root);
  expect(named[0]).toEqual({
    links: [join(root, "linked/short")],
    path: join(root, "linked/bin/short0"),
  });
  expect(named.length).toBeGreaterThan(20);
  expect(named.length).toBeLessThan(30);
});

test("links in a circle are no configuration", () => {
  const circle = ["one", "two", "three"];
  for (const [index, name] of circle.entries())
    symlinkSync(circle[(index + 1) % circle.length]!, join(root, name));
  writeFileSync(join(root, ".git/config"), "[include]\n\tpath = ../one\n");
  const [named] = paths.namedFor(root);
  expect(new Set(named?.links)).toEqual(new Set(circle.map((name) => join(root, name))));
});

test("a repository among few folders or many is known by its `HEAD`", () => {
  const folders = Array.from({ length: 20 }, (_, index) => root + "/refs".repeat(index + 1));
  mkdirSync(folders.at(-1)!, { recursive: true });
  const counts = [1, 20] as const;
  writeFileSync(join(root, "HEAD"), "");
  expect(counts.map((count) => areInRepository(folders.slice(0, count)))).toEqual([false, false]);
  writeFileSync(join(root, "refs/HEAD"), "");
  expect(counts.map((count) => areInRepository(folders.slice(0, count)))).toEqual([true, true]);
});
