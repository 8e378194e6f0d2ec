import { expect, test } from "bun:test";
import { constants, mkdirSync, openSync, symlinkSync } from "node:fs";
import type { Name } from "./folder.ts";
import { JailFixture } from "./jail.test-kit.ts";
import { hasDirectOpenat, openAt, openThroughProc } from "./openat.ts";
import { reasonAgainstOpening, reasonAgainstProcfs, supportsOpenat2 } from "./selftest.ts";

test("this machine passes", () => {
  expect(reasonAgainstProcfs()).toBeUndefined();
  expect(reasonAgainstOpening(openAt)).toBeUndefined();
  expect(reasonAgainstOpening(openThroughProc)).toBeUndefined();
});

test("a folder that looks like procfs is not trusted", () => {
  using sandbox = new JailFixture();
  mkdirSync(sandbox.at("proc/self"), { recursive: true });
  symlinkSync("/proc/self/fd", sandbox.at("proc/self/fd"));
  expect(reasonAgainstProcfs(sandbox.at("proc"))).toContain("is not procfs");
});

test("neither is one that is not there", () => {
  using sandbox = new JailFixture();
  expect(reasonAgainstProcfs(sandbox.at("proc"))).toContain("cannot be used");
});

test("a procfs that shows another process is not trusted", () => {
  // /proc/1 is procfs, but lacks the entry that it calls self.
  expect(reasonAgainstProcfs("/proc/1")).toBeDefined();
});

test("a way of opening that follows links is not trusted", () => {
  const following = (folder: number, name: Name, flags: number) =>
    openSync(`/proc/self/fd/${folder}/${name}`, flags);
  expect(reasonAgainstOpening(following)).toContain("follows links");
  const followingAtTheEnd = (folder: number, name: Name, flags: number) =>
    (flags & constants.O_DIRECTORY) === 0
      ? following(folder, name, flags)
      : openThroughProc(folder, name, flags);
  expect(reasonAgainstOpening(followingAtTheEnd)).toContain("does not tell a link");
});

test("several names are taken in one step where openat is called directly", () => {
  expect(supportsOpenat2()).toBe(hasDirectOpenat());
});

test.each([
  ["links", ["self"]],
  ["the links of procfs", ["root", "root/proc"]],
  ["the folder's parent", [".."]],
  ["other file systems", ["proc"]],
])("a system that takes several names in one step, and does not refuse %s, is not trusted", (_, taken) => {
  const open = (descriptor: number, path: Name) =>
    path === "fd" || taken.includes(path as string)
      ? openSync(`/proc/self/fd/${descriptor}/${path}`, constants.O_RDONLY)
      : undefined;
  expect(supportsOpenat2(open)).toBe(false);
});
