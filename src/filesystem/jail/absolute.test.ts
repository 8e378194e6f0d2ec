import { describe, expect, test } from "bun:test";
import { mkdirSync, symlinkSync } from "node:fs";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { globsForPaths } from "./denylist-globs.ts";
import type { BackendName, Jail } from "./folder.ts";
import { backends, JailFixture, lead } from "./jail.test-kit.ts";
import { openJail } from "./jail.ts";
import { parseAbsolutePath } from "./parse.ts";

test.each([
  ["/a/b", []],
  ["/a/b/", []],
  ["//a//b/./c/", ["c"]],
  ["/a/b/../b/c", ["c"]],
  ["/../a/b/c", ["c"]],
  ["/a/../a/b/c", ["c"]],
  ["/a/b/c/../../..", ["c", "..", "..", ".."]],
])("%j lies below the root", (path, names) => {
  expect(parseAbsolutePath(path, ["/a/b/"])).toEqual({ names, folderOnly: false });
});

test.each(["/", "/a", "/a/bc", "/a/b/..", "/x/a/b", "/A/b"])("%j does not", (path) => {
  expect(() => parseAbsolutePath(path, ["/a/b/"])).toThrow("leaves the base");
});

test.each(["", "a", "./a", "~", "../a/b"])("%j is no absolute path", (path) => {
  expect(() => parseAbsolutePath(path, ["/"])).toThrow("is relative");
});

test.each([`/${"x".repeat(300)}`, `/${"x/".repeat(3000)}`, "/a\0b", "/\ud800"])(
  "no system call takes %j",
  (path) => {
    expect(() => parseAbsolutePath(path, ["/"])).toThrow("operating system refused");
  },
);

describe.each(backends)("%s", (backend) => {
  const open = (basePath: string, denied: readonly string[] = []): Jail =>
    openJail({
      basePath,
      deny: compileGlobSet(globsForPaths(basePath, denied)),
      backend: backend as BackendName,
      paths: "absolute",
    });

  test("host paths lead where they say, and only below the base", () => {
    using box = new JailFixture({
      "d/f": "x",
      up: { link: ".." },
      in: { link: "<base>/d" },
    });
    const jail = open(box.base);
    const at = (path: string) => lead(jail, `${box.base}${path}`);
    expect([at(""), at("/d/f"), at("/d/../d/f"), at("/in/f"), at("/../base/d")]).toEqual([
      "at:",
      "at:d/f",
      "at:d/f",
      "at:d/f",
      "at:d",
    ]);
    expect([at("/up"), at("-2/f"), at("/.."), at("/d/../../outside")]).toEqual(Array(4).fill("outside"));
    expect(jail.hostPath("d/f")).toBe(`${box.base}/d/f`);
    jail.close();
  });

  test("the base may be called by a link, and names may be anything", () => {
    using box = new JailFixture({ f: "x", "../alias": { link: "base" } });
    const jail = open(box.at("../alias"));
    expect(lead(jail, `${box.at("../alias")}/f`)).toBe("at:f");
    expect(lead(jail, `${box.base}/f`)).toBe("at:f");
    expect(lead(jail, `${box.base}/a\\b\n`, { mayBeMissing: true })).toBe("new:a\\b\n");
    jail.close();
  });

  test("the root of the host is its own parent", () => {
    const jail = open("/");
    expect([lead(jail, "/"), lead(jail, "/../.."), lead(jail, "/usr/../../usr")]).toEqual([
      "at:",
      "at:",
      "at:usr",
    ]);
    jail.close();
  });

  test("a path that is denied is so with all below it, through every link, and before it exists", () => {
    using box = new JailFixture({
      "d/f": "x",
      l: { link: "d" },
      "a*b/f": "x",
      "acb/f": "x",
    });
    const jail = open(
      box.base,
      ["/d", "/new", "/a*b"].map((path) => box.base + path),
    );
    const at = (path: string) => lead(jail, `${box.base}${path}`, { mayBeMissing: true, parents: true });
    expect(["/d", "/d/f", "/l/f", "/new", "/new/x", "/a*b"].map(at)).toEqual(Array(6).fill("denied"));
    expect([at("/dd"), at("/acb/f")]).toEqual(["new:dd", "at:acb/f"]);
    jail.close();
  });

  test("a link can be had as it is, wherever it leads", () => {
    using box = new JailFixture({ out: { link: "/etc" }, dangling: { link: "nowhere" } });
    const jail = open(box.base);
    for (const name of ["out", "dangling"])
      expect(lead(jail, `${box.base}/${name}`, { lastLink: "bare" })).toBe(`at:${name}`);
    jail.close();
  });
});

test("a denylist that denies everything, or leads nowhere, is refused", () => {
  using box = new JailFixture({ f: "x" });
  symlinkSync("nowhere", box.at("../dangling"));
  mkdirSync(box.at("../other"));
  expect(() => globsForPaths(box.base, [box.root])).toThrow("denies all");
  expect(() => globsForPaths(box.base, [`${box.at("../dangling")}/x`])).toThrow("link to nowhere");
  expect(globsForPaths(box.base, [box.at("../other"), box.at("../base-2")])).toEqual([]);
});

test("a denied path that is a link is denied under its own name too, whatever it leads to later", () => {
  using box = new JailFixture({ "d/real": "x", l: { link: "d/real" }, f: { link: "d" } });
  expect(globsForPaths(box.base, [`${box.base}/l`, `${box.base}/f/real`, `${box.base}/d/real`])).toEqual([
    "d/real",
    "l",
    "f/real",
  ]);
});
