import { describe, expect, test } from "bun:test";
import { chmodSync, lstatSync, mkdirSync, readdirSync, renameSync, rmSync, writeFileSync } from "node:fs";
import type { Tree } from "../../../tests/harness/tree.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import type { MutationListener } from "../disk/mutation.ts";
import { Recorder } from "../disk/recorder.test-kit.ts";
import { FilesFixture, reasonOf } from "../files/files.test-kit.ts";
import { backends, countDescriptorsBelow } from "../jail/jail.test-kit.ts";
import type { Copying } from "./copy.ts";

type Options = Partial<Pick<Copying, "overwrite" | "parents">>;

describe.each(backends)("%s", (backend) => {
  function open(plan: Tree, listeners: MutationListener[] = []) {
    const bench = new FilesFixture(backend, plan, { listeners, max_write_bytes: 2_000_000 });
    const copy = (from: string, to: string, options: Options = {}) =>
      bench.files.copy({ from, to, overwrite: false, parents: true, ...options }, bench.call);
    return {
      bench,
      copy,
      reason: (from: string, to: string, options: Options = {}) => reasonOf(() => copy(from, to, options)),
      tree: () => bench.tree(),
      [Symbol.dispose]: () => bench[Symbol.dispose](),
    };
  }

  /** Runs `act` when a copy is about to get its name. */
  const atTheLastMoment = (act: () => void): MutationListener => {
    let isDone = false;
    return {
      before({ kind }) {
        if (kind === "make-folder" || isDone) return;
        isDone = true;
        act();
      },
    };
  };

  /** Returns the names that only an unfinished copy may have. */
  const temporariesIn = (folder: string) =>
    readdirSync(folder).filter((name) => name.startsWith(".coder-tmp-"));

  /** Returns the parts of a tree below `d`, and below its copy `e`. */
  const apart = (tree: Readonly<Record<string, unknown>>) => {
    const partOf = (folder: string) =>
      Object.fromEntries(Object.entries(tree).filter(([path]) => path.startsWith(`${folder}/`)));
    return { source: partOf("d"), copied: partOf("e") };
  };

  /** Returns a tree as its copy has to be. */
  const rebased = (tree: object) =>
    Object.fromEntries(Object.entries(tree).map(([path, entry]) => [path.replace(/^d/, "e"), entry]));

  test("a copy is one change, whatever is copied", async () => {
    const recorder = new Recorder();
    using at = open({ "d/e/f": "f", "d/l": { link: "e" }, g: "g" }, [recorder]);
    await at.copy("g", "h");
    await at.copy("g", "h", { overwrite: true });
    await at.copy("d/l", "m");
    await at.copy("d", "n/o");
    expect(recorder.take()).toEqual([
      "done create file h",
      "done replace file h",
      "done create symlink m",
      "done make-folder dir n",
      "done copy dir d to n/o",
    ]);
    expect(at.tree()).toEqual({
      "d/": null,
      "d/e/": null,
      "d/e/f": "f",
      "d/l": { link: "e" },
      g: "g",
      h: "g",
      m: { link: "e" },
      "n/": null,
      "n/o/": null,
      "n/o/e/": null,
      "n/o/e/f": "f",
      "n/o/l": { link: "e" },
    });
  });

  test.each([
    ["a file", { a: "ours" }],
    ["a link", { f: "", a: { link: "f" } }],
    ["a folder", { "a/f": "ours" }],
  ] as const)("%s never replaces what appears at the last moment", async (_, plan) => {
    for (const theirs of [{ b: "theirs" }, { "b/": null }, { b: { link: "f" } }]) {
      const at = open(plan, [atTheLastMoment(() => at.bench.add(theirs))]);
      using _closed = at;
      const before = at.tree();
      expect(await at.reason("a", "b")).toBe("exists");
      const { b: file, "b/": folder, ...rest } = at.tree();
      expect([file, folder]).not.toEqual([undefined, undefined]);
      expect(rest).toEqual(before);
    }
  });

  test("of a copy that fails nothing is left, nor of the folders made for it", async () => {
    using at = open({ "d/a": "a", "d/z/f": "f" });
    const before = at.tree();
    const descriptors = () => countDescriptorsBelow(at.bench.root);
    await at.reason("d", "d/e");
    const open0 = descriptors();
    let checks = 0;
    const late = deadlineIn(0);
    const check = () => {
      // This happens in the middle of the copy.
      if (++checks > 4) late.check();
    };
    const requester = { deadline: { ...late, signal: late.signal, check } };
    const copying = { from: "d", to: "n/m/e", overwrite: false, parents: true };
    expect(await reasonOf(() => at.bench.files.copy(copying, requester))).toBe("timeout");
    expect(at.tree()).toEqual(before);
    expect(temporariesIn(at.bench.base)).toEqual([]);
    expect(descriptors()).toBe(open0);
  });

  test("a copy that another program has taken away, or replaced, gets no name", async () => {
    for (const replace of [false, true]) {
      const at = open({ "d/f": "f" }, [
        atTheLastMoment(() => {
          const [name] = temporariesIn(at.bench.base);
          const hidden = `${at.bench.base}/${name}`;
          renameSync(hidden, `${at.bench.root}/away`);
          if (replace) mkdirSync(hidden);
        }),
      ]);
      using _closed = at;
      expect(await at.reason("d", "e")).not.toBe("done");
      expect(readdirSync(at.bench.base)).not.toContain("e");
    }
  });

  test("a denied file that appears while a folder is copied is not copied", async () => {
    using at = open({ "d/a": "a", "d/b/f": "f" });
    let checks = 0;
    const check = () => {
      if (++checks === 3) writeFileSync(at.bench.at("d/b/.env"), "x");
    };
    const requester = { deadline: { ...at.bench.deadline, signal: at.bench.deadline.signal, check } };
    const copying = { from: "d", to: "e", overwrite: false, parents: true };
    expect(await reasonOf(() => at.bench.files.copy(copying, requester))).toBe("denied");
    expect(readdirSync(at.bench.base)).toEqual(["d"]);
  });

  test("what is removed while a folder is copied is left out", async () => {
    using at = open({ "d/a": "a", "d/b": "b", "d/c/x": "x" });
    let checks = 0;
    const check = () => {
      if (++checks !== 3) return;
      rmSync(at.bench.at("d/b"));
      rmSync(at.bench.at("d/c"), { recursive: true });
    };
    const requester = { deadline: { ...at.bench.deadline, signal: at.bench.deadline.signal, check } };
    await at.bench.files.copy({ from: "d", to: "e", overwrite: false, parents: true }, requester);
    expect(at.tree()).toEqual({ "d/": null, "d/a": "a", "e/": null, "e/a": "a" });
  });

  /** The checks of the deadline while a file is copied, two for each. */
  const [duringA, duringB, afterB] = [3, 5, 7];
  const renames: [name: string, acts: Readonly<Record<number, readonly [from: string, to: string]>>][] = [
    ["a folder", { [duringA]: ["d/c", "d/c2"] }],
    ["a folder that gets a name before the place", { [duringA]: ["d/c", "d/a0"] }],
    ["a folder, away and back,", { [duringB]: ["d/c", "away"], [afterB]: ["away", "d/c"] }],
    ["a file", { [duringA]: ["d/b", "d/b2"] }],
    ["a file in a folder", { [afterB]: ["d/c/x", "d/c/0"] }],
    ["a link", { [duringA]: ["d/l", "d/l2"] }],
    ["the folder that is being copied", { [afterB]: ["d/c", "d/c2"] }],
  ];
  test.each(renames)("a copy that lacks %s which was renamed gets no name", async (name, acts) => {
    const plan = { "d/a": "a", "d/b": "b", "d/c/a": "a", "d/c/x": "x", "d/l": { link: "a" }, "d/z": "z" };
    using at = open(plan);
    const before = at.tree();
    let checks = 0;
    const check = () => {
      const [from, to] = acts[++checks] ?? [];
      if (from !== undefined) renameSync(at.bench.at(from), at.bench.at(to!));
    };
    const requester = { deadline: { ...at.bench.deadline, signal: at.bench.deadline.signal, check } };
    const copying = { from: "d", to: "e", overwrite: false, parents: true };
    const outcome = await reasonOf(() => at.bench.files.copy(copying, requester));
    for (const [from, to] of Object.values(acts).reverse()) renameSync(at.bench.at(to), at.bench.at(from));
    const { copied, source } = apart(at.tree());
    expect(source).toEqual(before);
    // By its descriptor, the folder is copied to the end.
    if (outcome === "done") {
      expect([name, copied]).toEqual(["the folder that is being copied", rebased(before)]);
    } else expect([outcome, copied]).toEqual(["io", {}]);
    expect(temporariesIn(at.bench.base)).toEqual([]);
  });

  test("modes are kept, of files and folders, whatever the umask", async () => {
    using at = open({ "d/f": "f", "d/e/g": "g" });
    const modes = { "d/e/g": 0o640, "d/e": 0o511, "d/f": 0o444, d: 0o750 };
    for (const [path, mode] of Object.entries(modes)) chmodSync(at.bench.at(path), mode);
    const before = process.umask(0o077);
    try {
      await at.copy("d", "n");
      await at.copy("d/f", "m");
    } finally {
      process.umask(before);
    }
    const paths = ["n/e/g", "n/e", "n/f", "n"].map((path) => at.bench.mode(path));
    expect(paths).toEqual(Object.values(modes));
    expect(at.bench.mode("m")).toBe(0o444);
  });

  test("what is temporary is no part of a copy, and none is left in it", async () => {
    using at = open({ "d/.coder-tmp-00000000-1-1-0123456789abcdef/f": "x", "d/f": "f" });
    await at.copy("d", "e");
    expect(readdirSync(at.bench.at("e"))).toEqual(["f"]);
  });

  test("a large file is copied in pieces, and a second name of it becomes a file of its own", async () => {
    const text = "0123456789abcdef".repeat(100_000);
    using at = open({ a: text, b: { hardlink: "a" } });
    await at.copy("a", "b", { overwrite: true });
    expect(at.bench.text("b") === text).toBe(true);
    expect(lstatSync(at.bench.at("a")).nlink).toBe(1);
    writeFileSync(at.bench.at("a"), "other");
    expect(at.bench.text("b") === text).toBe(true);
  });

  test("a copy waits for an edit of what it copies", async () => {
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
    const copying = at.copy("a", "b");
    gate.resolve();
    await Promise.all([editing, copying]);
    expect(at.bench.text("b")).toBe("new");
  });
});

test.each(["move", "copy"] as const)("no %s replaces by a link what that leads to", async (verb) => {
  using fixture = new FilesFixture("descriptors", { a: "text", "d/link": { link: "../a" } });
  const { files, call } = fixture;
  const before = fixture.tree();
  const paths = { from: "d/link", to: "a", overwrite: true, parents: false };
  expect(await reasonOf(() => files[verb](paths, call))).toBe("bad-input");
  expect(fixture.tree()).toEqual(before);
});
