import { afterAll, expect, test } from "bun:test";
import { chmodSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { JailFixture, openRootsAtOnce } from "./jail.test-kit.ts";
import { openJail } from "./jail.ts";

const nobody = 65534;
const deny = compileGlobSet([]);

const fixture = new JailFixture({ "open/a.txt": "a", "locked/a.txt": "a", "file.txt": "" });
const at = (name: string) => fixture.at(name);
const quoted = (name: string) => JSON.stringify(at(name));
chmodSync(fixture.root, 0o755);
chmodSync(at("locked"), 0);
const isRoot = process.geteuid?.() === 0;
if (isRoot) {
  process.setegid?.(nobody);
  process.seteuid?.(nobody);
}
afterAll(() => {
  if (isRoot) {
    process.seteuid?.(0);
    process.setegid?.(0);
  }
  fixture[Symbol.dispose]();
});

const open = (...names: string[]) =>
  names.length === 1
    ? openJail({ basePath: at(names[0]!), deny })
    : openRootsAtOnce({ roots: names.map((name) => ({ name, path: at(name) })), deny });

test("a base that this user may not enter is refused, by its path", () => {
  expect(() => open("locked")).toThrow(`base_path ${quoted("locked")} cannot be opened (EACCES).`);
});

test("a root that this user may not enter is missing, and the others are served", () => {
  const jail = open("open", "locked");
  expect(jail.missingRoots).toEqual([{ name: "locked", path: at("locked"), reason: "EACCES" }]);
  jail.close();
});

test("a file is refused as one", () => {
  expect(() => open("file.txt")).toThrow(`base_path ${quoted("file.txt")} is a file; name a folder.`);
  expect(() => open("open", "file.txt")).toThrow(
    `The path ${quoted("file.txt")} of the root "file.txt" is a file; name a folder.`,
  );
});

test("a path that leads nowhere is refused, by the name of its root", () => {
  expect(() => open("none")).toThrow(
    `base_path ${quoted("none")} cannot be reached (ENOENT). Make the folder, or write the path of another.`,
  );
  expect(() => open("none", "neither")).toThrow(
    `The path ${quoted("none")} of the root "none" cannot be reached (ENOENT).`,
  );
});

test.each([
  ["~/project", "`~` is not expanded; write the whole path."],
  ["${HOME:/srv}", "`${NAME:default}` works in the file of an iii engine only."],
  ["relative/missing", "It is relative to "],
])("base_path %s is refused with advice", (path, advice) => {
  expect(() => openJail({ basePath: path, deny })).toThrow(advice);
});
