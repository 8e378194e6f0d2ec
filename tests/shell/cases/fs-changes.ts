import { expect } from "bun:test";
import { chmodSync } from "node:fs";
import { FsCases, type Plan } from "../fixture.ts";

const tree: Plan = { "d/a": "x", "d/b": "y" };

export const cases = new FsCases()
  .gives("107 ls", [{ "a.txt": "ab" }, { path: "<D>" }], {
    entries: [{ name: "a.txt", size: 2, is_dir: false }],
  })
  .denies("108 ls", [{}, { path: "<D>/missing" }], "S211", "path not found: /")
  .denies("108 ls", [{ f: "x" }, { path: "<D>/f" }], "S212")
  .gives("109 ls", [{ a: { link: "/etc" }, b: { link: "nowhere" } }, { path: "<D>" }], {
    entries: [
      { name: "a", is_symlink: true, is_dir: false, size: 4 },
      { name: "b", is_symlink: true, is_dir: false, size: 7 },
    ],
  })
  .gives("110 stat", [{ f: { mode: 0o600, text: "" } }, { path: "<D>/f" }], { mode: "0600" })
  .gives("111 stat", [{ f: "12345" }, { path: "<D>/f" }], { name: "f", size: 5, is_dir: false })
  .gives("111 stat", [{ d: null }, { path: "<D>/d" }], { name: "d", is_dir: true, is_symlink: false })
  .denies("112 stat", [{}, { path: "<D>/missing" }], "S211", "path not found: /")
  .gives("113 stat", [{ f: "123", l: { link: "f" } }, { path: "<D>/l" }], {
    name: "f",
    size: 3,
    is_symlink: false,
  })
  .gives("114 mkdir", [{}, { path: "<D>/d", mode: "0755" }], { created: true }, ({ mode }) => {
    expect(mode("d")).toBe(0o755);
  })
  .gives("115 mkdir", [{}, { path: "<D>/d" }], { created: true }, ({ mode }) => expect(mode("d")).toBe(0o755))
  .denies("116 mkdir", [{ d: null }, { path: "<D>/d" }], "S213")
  .gives("116 mkdir", [{ d: null }, { path: "<D>/d", parents: true }], { created: false })
  .tells(117, "folders on the way", {}, async ({ answer, exists }) => {
    const payload = { path: "<D>/a/b/c", parents: true };
    expect(await answer("mkdir", payload)).toEqual({ created: true });
    expect(exists("a/b/c")).toBe(true);
    expect(await answer("mkdir", payload)).toEqual({ created: false });
  })
  .denies("118 mkdir", [{}, { path: "<D>/a/b/c" }], "S211")
  .denies("119 mkdir", [{}, { path: "<D>/d", mode: "garbage" }], "S210")
  .denies("119 mkdir", [{}, { path: "<D>/d", mode: "" }], "S210", "(empty)")
  .gives("120 rm", [{ f: "x" }, { path: "<D>/f" }], { removed: true }, ({ refused }) =>
    refused("stat", { path: "<D>/f" }, "S211"),
  )
  .denies("121 rm", [{}, { path: "<D>/missing" }], "S211")
  .denies("122 rm", [tree, { path: "<D>/d" }], "S214")
  .gives("122 rm", [tree, { path: "<D>/d", recursive: true }], { removed: true }, ({ exists }) => {
    expect(exists("d")).toBe(false);
  })
  .gives("123 rm", [{ d: null }, { path: "<D>/d" }], { removed: true })
  .gives(
    "124 rm",
    [
      { ...tree, l: { link: "d" } },
      { path: "<D>/l", recursive: true },
    ],
    { removed: true },
    (fixture) => {
      expect([fixture.exists("l"), fixture.exists("d/a")]).toEqual([false, true]);
    },
  )
  .gives("125 chmod", [{ f: "x" }, { path: "<D>/f", mode: "0600" }], { updated: 1 }, ({ mode }) => {
    expect(mode("f")).toBe(0o600);
  })
  .denies("126 chmod", [{}, { path: "<D>/missing", mode: "0600" }], "S211")
  .denies("126 chmod", [{ f: "x" }, { path: "<D>/f", mode: "8" }], "S210")
  .denies("126 chmod", [{ f: "x" }, { path: "<D>/f" }], "S210", "bad chmod payload")
  .gives(
    "127 chmod",
    [tree, { path: "<D>/d", mode: "0700", recursive: true }],
    { updated: 3 },
    ({ mode }) => {
      expect([mode("d"), mode("d/a"), mode("d/b")]).toEqual([0o700, 0o700, 0o700]);
    },
  )
  .tells(128, "a link in a tree leads nowhere", { "d/l": { link: "<D>/out" }, out: "x" }, async (fixture) => {
    chmodSync(fixture.at("out"), 0o600);
    expect(await fixture.answer("chmod", { path: "<D>/d", mode: "0755", recursive: true })).toEqual({
      updated: 1,
    });
    expect(fixture.mode("out")).toBe(0o600);
  })
  .denies(
    "129 chmod",
    [
      { ...tree, l: { link: "d" } },
      { path: "<D>/l", mode: "0700", recursive: true },
    ],
    "S212",
  )
  .tells(130, "a file is given away only by who may", { f: "x" }, async ({ call, mode }) => {
    const { error } = await call("chmod", { path: "<D>/f", mode: "0640", uid: 0 });
    if (process.getuid?.() === 0) expect(error).toBeUndefined();
    else expect(error?.message).toContain("S215");
    expect(mode("f")).toBe(0o640);
  })
  .gives("131 mv", [{ a: "x" }, { src: "<D>/a", dst: "<D>/b" }], { moved: true }, ({ exists, text }) => {
    expect([exists("a"), text("b")]).toEqual([false, "x"]);
  })
  .denies("132 mv", [{}, { src: "<D>/a", dst: "<D>/b" }], "S211", "src not found")
  .denies(
    "133 mv",
    [
      { a: "x", b: "y" },
      { src: "<D>/a", dst: "<D>/b" },
    ],
    "S213",
    "dst already exists",
  )
  .gives(
    "133 mv",
    [
      { a: "x", b: "y" },
      { src: "<D>/a", dst: "<D>/b", overwrite: true },
    ],
    { moved: true },
    (fixture) => {
      expect([fixture.exists("a"), fixture.text("b")]).toEqual([false, "x"]);
    },
  )
  .denies("134 mv", [{ a: "x" }, { src: "<D>/a", dst: "<D>/missing/b" }], "S211")
  .denies(
    "135 mv",
    [
      { a: "x", d: null },
      { src: "<D>/a", dst: "<D>/d", overwrite: true },
    ],
    "S216",
  ).all;
