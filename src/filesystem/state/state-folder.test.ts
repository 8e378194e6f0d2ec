import { afterEach, expect, spyOn, test } from "bun:test";
import {
  chmodSync,
  existsSync,
  mkdirSync,
  mkdtempSync,
  realpathSync,
  rmSync,
  statSync,
  symlinkSync,
  writeFileSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { ConfigError } from "../../config/file.ts";
import { findOverlappingRoots, openStateFolder } from "./state-folder.ts";

let made: string[] = [];

afterEach(() => {
  for (const folder of made) rmSync(folder, { recursive: true, force: true });
  made = [];
});

function folders(): { root: string; dir: string; outer: string } {
  const outer = realpathSync(mkdtempSync(join(tmpdir(), "coder-state-")));
  made.push(outer);
  mkdirSync(join(outer, "root"));
  return { outer, root: join(outer, "root"), dir: join(outer, "state") };
}

const modeOf = (path: string) => statSync(path).mode & 0o777;

test("nothing is made before it is needed, and what is made is private", () => {
  const { root, dir } = folders();
  const state = openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  expect(existsSync(dir)).toBe(false);
  expect(state.find("records")).toBeUndefined();
  expect(existsSync(dir)).toBe(false);
  const path = state.path("records", "1");
  expect(path).toBe(join(state.location, "records", "1"));
  expect(modeOf(state.location)).toBe(0o700);
  expect(modeOf(join(state.location, "records"))).toBe(0o700);
  expect(modeOf(dir)).toBe(0o700);
  expect(state.find("records")).toBe(join(state.location, "records"));
});

test("a folder that was removed while the worker runs is made again", () => {
  const { root, dir } = folders();
  const state = openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  state.path("records", "1");
  rmSync(dir, { recursive: true });
  state.path("records", "2");
  expect(modeOf(join(state.location, "records"))).toBe(0o700);
});

test("it is the same for every worker of a root, and another for another root of that name", () => {
  const { root, dir, outer } = folders();
  mkdirSync(join(outer, "other", "root"), { recursive: true });
  const { location } = openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  expect(openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] }).location).toBe(location);
  expect(location).toMatch(/\/state\/root-[0-9a-f]{12}\.coder-state$/);
  expect(
    openStateFolder({ dir, roots: [{ name: ".", hostPath: join(outer, "other", "root") }] }).location,
  ).not.toBe(location);
});

test("names of roots that are no names of files elsewhere", () => {
  const { dir } = folders();
  const last = (root: string) =>
    openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] }).location.slice(dir.length + 1);
  expect(last("/srv/Über uns")).toMatch(/^_ber_uns-[0-9a-f]{12}\.coder-state$/);
  expect(last(`/srv/${"x".repeat(255)}`)).toMatch(/^x{64}-[0-9a-f]{12}\.coder-state$/);
});

test("below the root it is refused, by a link as well", () => {
  const { root, dir, outer } = folders();
  const inside = () =>
    openStateFolder({ dir: join(root, "deep", "state"), roots: [{ name: ".", hostPath: root }] });
  expect(inside).toThrow(ConfigError);
  expect(inside).toThrow(
    /lies in the folder that is served, .*root, where calls could reach it; name another/,
  );
  symlinkSync(root, join(outer, "link"));
  expect(() => openStateFolder({ dir: join(outer, "link"), roots: [{ name: ".", hostPath: root }] })).toThrow(
    /lies in the folder/,
  );
  expect(() => openStateFolder({ dir, roots: [{ name: ".", hostPath: "/" }] })).toThrow(
    /lies in the folder that is served, \//,
  );
  const state = openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  symlinkSync(root, dir);
  expect(() => state.path("records", "1")).toThrow(/lies in the folder/);
});

test("above the root it is refused", () => {
  const { root, outer } = folders();
  expect(() => openStateFolder({ dir: outer, roots: [{ name: ".", hostPath: root }] })).toThrow(
    /holds the folder that is served, .*root; name/,
  );
});

test("one that others can enter, or that is no folder, is refused when it is found and when it comes later", () => {
  const { root, dir } = folders();
  const state = openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  mkdirSync(state.location, { recursive: true });
  chmodSync(state.location, 0o750);
  expect(() => openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] })).toThrow(
    /is open to other users; give it the mode 0700; name/,
  );
  expect(() => state.path("records", "1")).toThrow(/is open to other users/);
  rmSync(state.location, { recursive: true });
  writeFileSync(state.location, "");
  expect(() => openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] })).toThrow(/is no folder/);
});

test("one of another user is refused", () => {
  const { root, dir } = folders();
  const open = () => openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  const { location } = open();
  mkdirSync(location, { recursive: true, mode: 0o700 });
  expect(open).not.toThrow();
  const uid = process.getuid!();
  const another = spyOn(process, "getuid").mockReturnValue(uid + 1);
  try {
    expect(open).toThrow(/belongs to another user/);
  } finally {
    another.mockRestore();
  }
});

test("a folder in which others can replace it is refused, unless its sticky bit keeps them from that", () => {
  const { root, dir } = folders();
  const open = () => openStateFolder({ dir, roots: [{ name: ".", hostPath: root }] });
  mkdirSync(dir);
  chmodSync(dir, 0o777);
  expect(open).toThrow(/lets every user replace what is in it; .*; name/);
  chmodSync(dir, 0o1777);
  expect(open).not.toThrow();
  chmodSync(dir, 0o775);
  expect(open).not.toThrow();
});

test("a folder that cannot be reached is refused", () => {
  const { root, outer } = folders();
  writeFileSync(join(outer, "file"), "");
  expect(() =>
    openStateFolder({ dir: join(outer, "file", "state"), roots: [{ name: ".", hostPath: root }] }),
  ).toThrow(/cannot be reached \(ENOTDIR\)/);
});

test("several roots have one state folder, in whatever order they are named", () => {
  const { dir, outer } = folders();
  const one = { name: "one", hostPath: join(outer, "one") };
  const two = { name: "two", hostPath: join(outer, "two") };
  const { location } = openStateFolder({ dir, roots: [one, two] });
  expect(location).toMatch(/\/state\/one\+two-[0-9a-f]{12}\.coder-state$/);
  expect(openStateFolder({ dir, roots: [two, one] }).location).toBe(location);
  expect(openStateFolder({ dir, roots: [one] }).location).not.toBe(location);
  expect(openStateFolder({ dir, roots: [one, { ...two, name: "other" }] }).location).not.toBe(location);
  const inTwo = () => openStateFolder({ dir: join(outer, "two", "state"), roots: [one, two] });
  expect(inTwo).toThrow(/lies in the folder that is served, .*two/);
});

test("the roots of other state folders that overlap with these are found", () => {
  const { dir, outer } = folders();
  const root = (...names: string[]) => ({ name: names.at(-1)!, hostPath: join(outer, ...names) });
  const [one, two, three] = [root("one"), root("two"), root("three")];
  const only = (...names: string[]) => [{ name: ".", hostPath: join(outer, ...names) }];
  const use = (...roots: { name: string; hostPath: string }[]) =>
    openStateFolder({ dir, roots }).path("records", "1");
  const found = (...roots: { name: string; hostPath: string }[]) => findOverlappingRoots({ dir, roots });
  expect(found(...only("one"))).toEqual([]);
  use(two, one);
  use(...only("three", "inner"));
  expect(found(...only("one"))).toEqual([[one, two]]);
  expect(found(...only("one", "inner"))).toEqual([[one, two]]);
  expect(found(one, two)).toEqual([]);
  expect(found(one, two, three)).toEqual([only("three", "inner"), [one, two]]);
  expect(found(...only("on"))).toEqual([]);
});

test("roots that a state folder lists are believed only if its name stands for them", () => {
  const { dir, root } = folders();
  const roots = [{ name: ".", hostPath: root }];
  const state = openStateFolder({ dir, roots });
  state.path("records", "1");
  const within = [{ name: ".", hostPath: join(root, "inner") }];
  const listed = join(state.location, "roots.json");
  expect(modeOf(listed)).toBe(0o600);
  expect(findOverlappingRoots({ dir, roots: within })).toEqual([roots]);
  for (const text of ["", "null", "[null]", "{}", JSON.stringify([{ name: ".", hostPath: "/" }])]) {
    writeFileSync(listed, text);
    expect(findOverlappingRoots({ dir, roots: within })).toEqual([]);
  }
  writeFileSync(listed, JSON.stringify(roots));
  chmodSync(state.location, 0o750);
  expect(findOverlappingRoots({ dir, roots: within })).toEqual([]);
});
