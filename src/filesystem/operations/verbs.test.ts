/** Tests the verbs that `shell::fs` adds, on every backend. */
import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync } from "node:fs";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";

async function* pieces(...texts: string[]): AsyncGenerator<Uint8Array> {
  for (const text of texts) yield Buffer.from(text);
}

async function* failing(): AsyncGenerator<Uint8Array> {
  yield Buffer.from("half");
  throw new Error("the sender died");
}

describe.each(backends)("%s", (backend) => {
  const usual = { mode: undefined, parents: false };

  test("a file is stored in pieces, and what is there is replaced in one step", async () => {
    using bench = new FilesFixture(backend, { f: "old", l: { link: "f" } });
    chmodSync(bench.at("f"), 0o600);
    await bench.files.store("l", pieces("ne", "", "w"), usual, bench.call);
    await bench.files.store("a/b", pieces(), { mode: 0o640, parents: true }, bench.call);
    expect(bench.tree()).toEqual({
      f: "new",
      l: { link: "f" },
      "a/": null,
      "a/b": "",
    });
    expect([bench.mode("f"), bench.mode("a/b")]).toEqual([0o600, 0o640]);
  });

  test("of a file that is not sent to its end nothing is left", async () => {
    using bench = new FilesFixture(backend, { f: "old" });
    const before = countDescriptorsBelow(bench.root);
    await expect(
      bench.files.store("a/b", failing(), { ...usual, parents: true }, bench.call),
    ).rejects.toThrow("died");
    await expect(bench.files.store("f", failing(), usual, bench.call)).rejects.toThrow("died");
    expect(await reasonOf(() => bench.files.store("no/f", pieces(), usual, bench.call))).toBe("missing");
    expect(bench.tree()).toEqual({ f: "old" });
    expect(countDescriptorsBelow(bench.root)).toBe(before);
  });

  test("a file is moved into folders that are made for it, and never onto another unasked", async () => {
    using bench = new FilesFixture(backend, {
      a: "a",
      b: "b",
      "d/c": "c",
      l: { link: "b" },
    });
    const moves: boolean[] = [];
    const move = (from: string, to: string, { overwrite = false, parents = true } = {}) =>
      reasonOf(async () => {
        moves.push(await bench.files.move({ from, to, overwrite, parents }, bench.call));
      });
    expect(await move("a", "b")).toBe("exists");
    expect(await move("a", "d", { overwrite: true })).toBe("wrong-kind");
    expect(await move("a", "n/x", { parents: false })).toBe("missing");
    expect(await move("none", "n/m/x")).toBe("missing");
    expect(await move(".", "z")).toBe("bad-input");
    expect(await move("a", ".", { overwrite: true })).toBe("wrong-kind");
    expect(await move("d", "d/e")).toBe("bad-input");
    expect(await move("d", "b", { overwrite: true })).toBe("bad-input");
    expect(moves).toEqual([]);
    expect(await move("a", "./d/../a")).toBe("done");
    expect(await move("a", "n/m/x")).toBe("done");
    expect(await move("n/m/x", "l", { overwrite: true })).toBe("done");
    expect(await move("d", "e")).toBe("done");
    expect(moves).toEqual([false, true, true, true]);
    expect(bench.tree()).toEqual({
      b: "b",
      "e/": null,
      "e/c": "c",
      l: "a",
      "n/": null,
      "n/m/": null,
    });
  });

  test("a file is renamed, also into another folder, and never onto another unasked", async () => {
    using bench = new FilesFixture(backend, { a: "a", b: "b", "d/c": "c" });
    const rename = (from: string, to: string, overwrite = false) =>
      reasonOf(() => bench.files.rename({ from, to, overwrite }, bench.call));
    expect(await rename("a", "b")).toBe("exists");
    expect(await rename("a", "x")).toBe("done");
    expect(await rename("x", "d/y")).toBe("done");
    expect(await rename("d/y", "b", true)).toBe("done");
    expect(await rename("none", "z")).toBe("missing");
    expect(await rename("b", "none/z")).toBe("missing");
    expect(await rename("b", "d", true)).toBe("io");
    expect(await rename("d", "b", true)).toBe("io");
    expect(await rename(".", "z")).toBe("outside");
    expect(bench.tree()).toEqual({ b: "a", "d/": null, "d/c": "c" });
  });

  test("a folder is renamed with what is in it, unless something in it is denied", async () => {
    using bench = new FilesFixture(backend, { "d/c": "c", "e/.env": "x" });
    const rename = (from: string, to: string) =>
      reasonOf(() => bench.files.rename({ from, to, overwrite: false }, bench.call));
    expect(await rename("d", "n")).toBe("done");
    expect(await rename("e", "m")).toBe("denied");
    expect(await rename("n", "n/inner")).toBe("io");
    expect(bench.tree()).toEqual({
      "n/": null,
      "n/c": "c",
      "e/": null,
      "e/.env": "x",
    });
  });

  test("a link is renamed as a link", async () => {
    using bench = new FilesFixture(backend, { f: "x", l: { link: "f" } });
    await bench.files.rename({ from: "l", to: "m", overwrite: false }, bench.call);
    expect(bench.tree()).toEqual({ f: "x", m: { link: "f" } });
  });

  test("modes are changed of what is meant and of nothing else", async () => {
    using bench = new FilesFixture(backend, {
      "d/e/f": "x",
      "d/l": { link: "../o" },
      o: "x",
      l: { link: "o" },
    });
    const change = (path: string, mode: number, recursive = false) =>
      bench.files.changeMode(path, { mode, uid: undefined, gid: undefined, recursive }, bench.call);
    const before = bench.mode("o");
    expect(await change("d", 0o711, true)).toBe(3);
    expect(["d", "d/e", "d/e/f"].map((path) => bench.mode(path))).toEqual([0o711, 0o711, 0o711]);
    expect(bench.mode("o")).toBe(before);
    expect(await change("l", 0o1640)).toBe(1);
    expect(bench.mode("o")).toBe(0o1640);
    expect(await reasonOf(() => change("l", 0o600, true))).toBe("wrong-kind");
    expect(await reasonOf(() => change(".", 0o600))).toBe("outside");
  });

  test("a folder is made with its exact mode, or is there already", async () => {
    using bench = new FilesFixture(backend, { f: "x" });
    const make = (path: string, parents: boolean) =>
      bench.files.makeFolder(path, { mode: 0o1777, parents }, bench.call);
    for (const [path, parents, isMade] of [
      ["a/b", true, true],
      ["a/b", true, false],
      ["c", false, true],
    ] as const)
      expect(await make(path, parents)).toBe(isMade);
    expect([bench.mode("a/b"), bench.mode("c")]).toEqual([0o1777, 0o1777]);
    expect(await reasonOf(() => make("c", false))).toBe("exists");
    expect(await reasonOf(() => make("f", true))).toBe("exists");
    expect(await reasonOf(() => make("no/d", false))).toBe("missing");
  });

  test("a file is read piece by piece, as it was when it was opened", async () => {
    using bench = new FilesFixture(backend, { f: "x".repeat(100_000), "d/a": "" });
    const opened = bench.files.open("f", undefined);
    let bytes = 0;
    for await (const piece of opened.pieces()) bytes += piece.length;
    opened.close();
    expect([bytes, opened.stats.size]).toEqual([100_000, 100_000]);
    expect(await reasonOf(() => bench.files.open("f", { key: "k", bytes: 99_999 }))).toBe("too-large");
    expect(await reasonOf(() => bench.files.open("d", undefined))).toBe("wrong-kind");
  });

  test("a file is read from its end, in pieces that make it up", async () => {
    const text = Array.from({ length: 60_000 }, (_, n) => `line ${n}`).join("\n");
    using bench = new FilesFixture(backend, { f: text, empty: "" });
    const piecesOf = async (path: string) => {
      const opened = bench.files.open(path, undefined);
      const found: { text: string; offset: number }[] = [];
      for await (const { piece, offset } of opened.piecesFromEnd())
        found.unshift({ text: piece.toString(), offset });
      opened.close();
      return found;
    };
    const found = await piecesOf("f");
    expect(found.length).toBeGreaterThan(2);
    expect(found.map((piece) => piece.text).join("")).toBe(text);
    for (const piece of found) expect(text.startsWith(piece.text, piece.offset)).toBe(true);
    expect(await piecesOf("empty")).toEqual([]);
  });

  test("a link that leads out is removed, and what is not there is told", async () => {
    using bench = new FilesFixture(backend, { l: { link: "<root>/outside/secret.txt" } });
    const unlink = () => reasonOf(() => bench.files.unlink("l", { recursive: false }, bench.call));
    expect([await unlink(), await unlink()]).toEqual(["done", "missing"]);
    expect(lstatSync(bench.at("../outside/secret.txt")).isFile()).toBe(true);
  });
});
