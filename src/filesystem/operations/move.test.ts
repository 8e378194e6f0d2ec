import { describe, expect, test } from "bun:test";
import { existsSync, lstatSync, renameSync, rmSync } from "node:fs";
import type { Tree } from "../../../tests/harness/tree.ts";
import type { Refusal } from "../../base/errors.ts";
import { moveInSteps, moveSameInSteps } from "../disk/move-to-new.ts";
import type { MutationListener } from "../disk/mutation.ts";
import { Recorder } from "../disk/recorder.test-kit.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import type { JailedPath } from "../jail/folder.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import type { Moving } from "./move.ts";

type Options = Partial<Pick<Moving, "overwrite" | "parents" | "linkMayLeadAnywhere">>;

describe.each(backends)("%s", (backend) => {
  const isOneFolder = backend === "current-directory";

  function open(tree: Tree, listeners: readonly MutationListener[] = []) {
    const bench = new FilesFixture(backend, tree, { listeners });
    const move = (from: string, to: string, options: Options = {}) =>
      bench.files.move({ from, to, overwrite: false, parents: true, ...options }, bench.call);
    return {
      bench,
      move,
      reason: (from: string, to: string, options: Options = {}) => reasonOf(() => move(from, to, options)),
      tree: () => bench.tree(),
      [Symbol.dispose]: () => bench[Symbol.dispose](),
    };
  }

  /** Runs `act` once, between the checks of a move and the move. */
  const atTheLastMoment = (act: () => void): MutationListener => {
    let isDone = false;
    return {
      before({ kind }) {
        if (kind !== "rename" || isDone) return;
        isDone = true;
        act();
      },
    };
  };

  test.each([
    ["a file", { a: "ours" }, "a"],
    ["a link", { f: "", a: { link: "f" } }, "a"],
    ["a folder", { "a/f": "ours" }, "a"],
  ] as const)("%s never replaces what appears at the last moment", async (_, tree, from) => {
    for (const theirs of [{ b: "theirs" }, { "b/": null }, { b: { link: "f" } }]) {
      const at = open(tree, [atTheLastMoment(() => at.bench.add(theirs))]);
      using _closed = at;
      const before = at.tree();
      expect(await at.reason(from, "b")).toBe("exists");
      const { b: file, "b/": folder, ...rest } = at.tree();
      expect([file, folder]).not.toEqual([undefined, undefined]);
      expect(rest).toEqual(before);
    }
  });

  test("a folder replaces no empty folder that appears at the last moment, asked to or not", async () => {
    const at = open({ "a/f": "" }, [atTheLastMoment(() => at.bench.add({ "b/": null }))]);
    using _closed = at;
    expect(await at.reason("a", "b", { overwrite: true })).toBe("exists");
    expect(at.tree()).toEqual({ "a/": null, "a/f": "", "b/": null });
  });

  test("what takes the old name after it was checked is not moved", async () => {
    const at = open({ "d/f": "", "secret/.env": "x" }, [
      atTheLastMoment(() => {
        renameSync(at.bench.at("d"), at.bench.at("away"));
        renameSync(at.bench.at("secret"), at.bench.at("d"));
      }),
    ]);
    using _closed = at;
    expect(await at.reason("d", "e")).toBe("io");
    expect(at.tree()).toEqual({ "away/": null, "away/f": "", "d/": null, "d/.env": "x" });
  });

  test("a file onto a hard link of it: the old name goes, and nothing else", async () => {
    const recorder = new Recorder();
    using at = open({ a: "text", b: { hardlink: "a" }, "d/c": { hardlink: "a" } }, [recorder]);
    expect(await at.reason("a", "b")).toBe("exists");
    expect(lstatSync(at.bench.at("a")).nlink).toBe(3);
    expect(await at.move("a", "b", { overwrite: true })).toBe(true);
    expect(at.tree()).toEqual({ b: "text", "d/": null, "d/c": "text" });
    expect(await at.move("b", "d/c", { overwrite: true })).toBe(true);
    expect(at.tree()).toEqual({ "d/": null, "d/c": "text" });
    expect(lstatSync(at.bench.at("d/c")).nlink).toBe(1);
    expect(recorder.take()).toEqual(["done rename file a to b", "done rename file b to d/c"]);
  });

  test("a hard link that becomes another file meanwhile keeps both", async () => {
    const at = open({ a: "text", b: { hardlink: "a" } }, [
      atTheLastMoment(() => {
        rmSync(at.bench.at("b"));
        at.bench.add({ b: "theirs" });
      }),
    ]);
    using _closed = at;
    expect(await at.reason("a", "b", { overwrite: true })).toBe("io");
    expect(at.tree()).toEqual({ a: "text", b: "theirs" });
  });

  test("a path onto itself, however it is written, changes nothing", async () => {
    using at = open({ "d/f": "x", l: { link: "d" } });
    for (const to of ["d/f", "./d//f", "l/f", "d/../l/f"])
      expect(await at.move("d/f", to, { overwrite: true })).toBe(false);
    for (const to of ["d", "d/", "l/."]) expect(await at.reason("d", to)).not.toBe("io");
    expect(await at.move("d", "d/")).toBe(false);
    expect(at.tree()).toEqual({ "d/": null, "d/f": "x", l: { link: "d" } });
  });

  test("a new folder's path may end in a slash, a new file's may not", async () => {
    using at = open({ "d/f": "x", f: "x" });
    expect(await at.reason("f", "g/")).toBe("bad-input");
    expect(await at.reason("f", "n/g/")).toBe("bad-input");
    expect(await at.move("d", "e/")).toBe(true);
    expect(at.tree()).toEqual({ "e/": null, "e/f": "x", f: "x" });
  });

  test("moves over each other's paths wait for each other and are all answered", async () => {
    using at = open({});
    const names = ["a", "b", "c"];
    const options = { mode: 0o644, overwrite: true, parents: false };
    const turn = async (index: number) => {
      const [from, to] = [names[index % 3]!, names[(index + 1 + (index % 2)) % 3]!];
      await at.bench.files.create(from, Buffer.from("whole"), options, at.bench.call);
      return at.reason(from, to, { overwrite: true });
    };
    const outcomes = await Promise.all(Array.from({ length: 60 }, (_, index) => turn(index)));
    expect(outcomes).toContain("done");
    expect(outcomes.filter((outcome) => outcome !== "done" && outcome !== "missing")).toEqual([]);
    expect(new Set(Object.values(at.tree()))).toEqual(new Set(["whole"]));
  });

  test("a move waits for an edit of what it moves, and an edit for a move", async () => {
    using at = open({ a: "old" });
    const gate = Promise.withResolvers<void>();
    const editing = at.bench.files.update(
      "a",
      async () => {
        await gate.promise;
        return Buffer.from("new");
      },
      at.bench.call,
    );
    const moving = at.move("a", "b");
    const late = at.bench.files.update(
      "b",
      (before) => Buffer.concat([before, Buffer.from("er")]),
      at.bench.call,
    );
    gate.resolve();
    await Promise.all([editing, moving]);
    expect(await reasonOf(() => late)).toBe("missing");
    expect(at.tree()).toEqual({ b: "new" });
  });

  test("between folders a link goes as a link, also onto a file", async () => {
    using at = open({ f: "x", l: { link: "f" }, "d/g": "g" });
    expect(await at.reason("l", "d/g")).toBe("exists");
    expect(await at.move("l", "d/g", { overwrite: true })).toBe(true);
    expect(await at.move("f", "d/f")).toBe(true);
    expect(await at.move("d/g", "l")).toBe(true);
    expect(at.tree()).toEqual({ "d/": null, "d/f": "x", l: { link: "f" } });
  });

  test("a link that leads anywhere goes as a link if that is allowed, and nothing through it", async () => {
    const links = { out: { link: "../outside" }, dangling: { link: "a" }, denied: { link: ".env" } };
    using at = open({ ...links, ".env": "kept", f: "x", "d/": null });
    const anywhere = { linkMayLeadAnywhere: true };
    for (const path of Object.keys(links)) {
      expect(await at.reason(path, `d/${path}`)).toBe(path === "denied" ? "denied" : "outside");
      expect(await at.move(path, `d/${path}`, anywhere)).toBe(true);
      expect(await at.move(`d/${path}`, path, anywhere)).toBe(true);
    }
    expect(await at.reason("out/secret.txt", "s", anywhere)).toBe("outside");
    expect(await at.reason("f", "out/f", anywhere)).toBe("outside");
    expect(await at.reason("f", "dangling", { ...anywhere, overwrite: true })).toBe("outside");
    expect(await at.reason("out", "f", anywhere)).toBe("exists");
    expect(await at.move("out", "f", { ...anywhere, overwrite: true })).toBe(true);
    expect(at.tree()).toEqual({
      "d/": null,
      ".env": "kept",
      dangling: links.dangling,
      denied: links.denied,
      f: links.out,
    });
  });

  test("a folder goes into another where two can be held at once, and else the sentence says so", async () => {
    using at = open({ "d/f": "x", "e/": null });
    const outcome = await at.move("d", "e/d").catch((error: Refusal) => error.message);
    if (isOneFolder) expect(outcome).toContain("into another folder in one step");
    else expect(outcome).toBe(true);
    expect(at.bench.text(isOneFolder ? "d/f" : "e/d/f")).toBe("x");
  });

  test("no descriptor stays open, whatever becomes of a move", async () => {
    using at = open({ a: "a", b: "b", "d/c": "c", "e/.env": "x" });
    await at.reason("a", "n/a");
    const before = countDescriptorsBelow(at.bench.root);
    for (const [from, to] of [
      ["n/a", "a"],
      ["a", "b"],
      ["d", "d/x"],
      ["e", "n"],
      ["no", "n"],
      ["d", "n/q/"],
    ] as const)
      await at.reason(from, to);
    expect(countDescriptorsBelow(at.bench.root)).toBe(before);
  });
});

describe("where there is no renameat2", () => {
  const steps = (bench: FilesFixture, from: string, to: string) =>
    moveInSteps(
      `${bench.base}/${from}` as unknown as JailedPath,
      `${bench.base}/${to}` as unknown as JailedPath,
    );

  test("a file, a link and a folder get a new name", () => {
    using bench = new FilesFixture(backends[0]!, {
      a: "a",
      l: { link: "no" },
      "d/f": "f",
    });
    const { mode, ino } = lstatSync(bench.at("a"));
    for (const name of ["a", "l", "d"]) steps(bench, name, `${name}2`);
    expect(bench.tree()).toEqual({
      a2: "a",
      l2: { link: "no" },
      "d2/": null,
      "d2/f": "f",
    });
    expect(lstatSync(bench.at("a2"))).toMatchObject({ mode, ino, nlink: 1 });
  });

  test("what has the name stays, and so does what was to get it", () => {
    const tree = {
      a: "a",
      l: { link: "no" },
      "d/f": "f",
      file: "x",
      "e/": null,
    };
    using bench = new FilesFixture(backends[0]!, tree);
    const before = bench.tree();
    for (const name of ["a", "l", "d"])
      for (const taken of ["file", "e"]) expect(() => steps(bench, name, taken)).toThrow("EEXIST");
    expect(bench.tree()).toEqual(before);
  });

  test("a folder that cannot be moved gives the name back", () => {
    using bench = new FilesFixture(backends[0]!, { "d/f": "f" });
    expect(() => steps(bench, "d", "d/e")).toThrow("EINVAL");
    expect(existsSync(bench.at("d/e"))).toBe(false);
  });

  test("what has to stay the same file does, and replaces nothing", () => {
    using bench = new FilesFixture(backends[0]!, {
      a: "a",
      l: { link: "no" },
      "d/f": "f",
      file: "x",
      "e/": null,
    });
    const same = (from: string, to: string) =>
      moveSameInSteps(bench.at(from) as unknown as JailedPath, bench.at(to) as unknown as JailedPath);
    const inodes = (names: readonly string[]) => names.map((name) => lstatSync(bench.at(name)).ino);
    const before = inodes(["a", "l", "d"]);
    for (const name of ["a", "l", "d"]) {
      for (const taken of ["file", "e"]) expect(() => same(name, taken)).toThrow("EEXIST");
      same(name, `${name}2`);
    }
    expect(inodes(["a2", "l2", "d2"])).toEqual(before);
    expect(bench.tree()).toEqual({
      a2: "a",
      "d2/": null,
      "d2/f": "f",
      "e/": null,
      file: "x",
      l2: { link: "no" },
    });
  });
});
