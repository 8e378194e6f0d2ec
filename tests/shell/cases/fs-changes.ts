import { expect } from "bun:test";
import { chmodSync } from "node:fs";
import type { Tree } from "../../harness/tree.ts";
import { FsCases } from "../fixture.ts";

const tree: Tree = { "d/a": "x", "d/b": "y" };

export const cases = new FsCases()
  .answersOn("107 ls", [{ "a.txt": "ab" }, { path: "<base>" }], {
    entries: [{ name: "a.txt", size: 2, is_dir: false }],
  })
  .refusesOn("108 ls", [{}, { path: "<base>/missing" }], "S211", "path not found: /")
  .refusesOn("108 ls", [{ f: "x" }, { path: "<base>/f" }], "S212")
  .answersOn("109 ls", [{ a: { link: "/etc" }, b: { link: "nowhere" } }, { path: "<base>" }], {
    entries: [
      { name: "a", is_symlink: true, is_dir: false, size: 4 },
      { name: "b", is_symlink: true, is_dir: false, size: 7 },
    ],
  })
  .answersOn("110 stat", [{ f: { mode: 0o600, text: "" } }, { path: "<base>/f" }], { mode: "0600" })
  .answersOn("111 stat", [{ f: "12345" }, { path: "<base>/f" }], { name: "f", size: 5, is_dir: false })
  .answersOn("111 stat", [{ "d/": null }, { path: "<base>/d" }], {
    name: "d",
    is_dir: true,
    is_symlink: false,
  })
  .refusesOn("112 stat", [{}, { path: "<base>/missing" }], "S211", "path not found: /")
  .answersOn("113 stat", [{ f: "123", l: { link: "f" } }, { path: "<base>/l" }], {
    name: "f",
    size: 3,
    is_symlink: false,
  })
  .answersOn("114 mkdir", [{}, { path: "<base>/d", mode: "0755" }], { created: true }, ({ mode }) => {
    expect(mode("d")).toBe(0o755);
  })
  .answersOn("115 mkdir", [{}, { path: "<base>/d" }], { created: true }, ({ mode }) =>
    expect(mode("d")).toBe(0o755),
  )
  .refusesOn("116 mkdir", [{ "d/": null }, { path: "<base>/d" }], "S213")
  .answersOn("116 mkdir", [{ "d/": null }, { path: "<base>/d", parents: true }], { created: false })
  .scriptOn(117, "folders on the way", {}, async ({ answer, exists }) => {
    const payload = { path: "<base>/a/b/c", parents: true };
    expect(await answer("mkdir", payload)).toEqual({ created: true });
    expect(exists("a/b/c")).toBe(true);
    expect(await answer("mkdir", payload)).toEqual({ created: false });
  })
  .refusesOn("118 mkdir", [{}, { path: "<base>/a/b/c" }], "S211")
  .refusesOn("119 mkdir", [{}, { path: "<base>/d", mode: "garbage" }], "S210")
  .refusesOn("119 mkdir", [{}, { path: "<base>/d", mode: "" }], "S210", "(empty)")
  .answersOn("120 rm", [{ f: "x" }, { path: "<base>/f" }], { removed: true }, ({ refused }) =>
    refused("stat", { path: "<base>/f" }, "S211"),
  )
  .refusesOn("121 rm", [{}, { path: "<base>/missing" }], "S211")
  .refusesOn("122 rm", [tree, { path: "<base>/d" }], "S214")
  .answersOn("122 rm", [tree, { path: "<base>/d", recursive: true }], { removed: true }, ({ exists }) => {
    expect(exists("d")).toBe(false);
  })
  .answersOn("123 rm", [{ "d/": null }, { path: "<base>/d" }], { removed: true })
  .answersOn(
    "124 rm",
    [
      { ...tree, l: { link: "d" } },
      { path: "<base>/l", recursive: true },
    ],
    { removed: true },
    (fixture) => {
      expect([fixture.exists("l"), fixture.exists("d/a")]).toEqual([false, true]);
    },
  )
  .answersOn("125 chmod", [{ f: "x" }, { path: "<base>/f", mode: "0600" }], { updated: 1 }, ({ mode }) => {
    expect(mode("f")).toBe(0o600);
  })
  .refusesOn("126 chmod", [{}, { path: "<base>/missing", mode: "0600" }], "S211")
  .refusesOn("126 chmod", [{ f: "x" }, { path: "<base>/f", mode: "8" }], "S210")
  .refusesOn("126 chmod", [{ f: "x" }, { path: "<base>/f" }], "S210", "bad chmod payload")
  .answersOn(
    "127 chmod",
    [tree, { path: "<base>/d", mode: "0700", recursive: true }],
    { updated: 3 },
    ({ mode }) => {
      expect([mode("d"), mode("d/a"), mode("d/b")]).toEqual([0o700, 0o700, 0o700]);
    },
  )
  .scriptOn(
    128,
    "a link in a tree leads nowhere",
    { "d/l": { link: "<base>/out" }, out: "x" },
    async (fixture) => {
      chmodSync(fixture.at("out"), 0o600);
      expect(await fixture.answer("chmod", { path: "<base>/d", mode: "0755", recursive: true })).toEqual({
        updated: 1,
      });
      expect(fixture.mode("out")).toBe(0o600);
    },
  )
  .refusesOn(
    "129 chmod",
    [
      { ...tree, l: { link: "d" } },
      { path: "<base>/l", mode: "0700", recursive: true },
    ],
    "S212",
  )
  .scriptOn(130, "a file is given away only by who may", { f: "x" }, async ({ call, mode }) => {
    const { error } = await call("chmod", { path: "<base>/f", mode: "0640", uid: 0 });
    if (process.getuid?.() === 0) expect(error).toBeUndefined();
    else expect(error?.message).toContain("S215");
    expect(mode("f")).toBe(0o640);
  })
  .answersOn(
    "131 mv",
    [{ a: "x" }, { src: "<base>/a", dst: "<base>/b" }],
    { moved: true },
    ({ exists, text }) => {
      expect([exists("a"), text("b")]).toEqual([false, "x"]);
    },
  )
  .refusesOn("132 mv", [{}, { src: "<base>/a", dst: "<base>/b" }], "S211", "src not found")
  .refusesOn(
    "133 mv",
    [
      { a: "x", b: "y" },
      { src: "<base>/a", dst: "<base>/b" },
    ],
    "S213",
    "dst already exists",
  )
  .answersOn(
    "133 mv",
    [
      { a: "x", b: "y" },
      { src: "<base>/a", dst: "<base>/b", overwrite: true },
    ],
    { moved: true },
    (fixture) => {
      expect([fixture.exists("a"), fixture.text("b")]).toEqual([false, "x"]);
    },
  )
  .refusesOn("134 mv", [{ a: "x" }, { src: "<base>/a", dst: "<base>/missing/b" }], "S211")
  .refusesOn(
    "135 mv",
    [
      { a: "x", "d/": null },
      { src: "<base>/a", dst: "<base>/d", overwrite: true },
    ],
    "S216",
  ).all;
