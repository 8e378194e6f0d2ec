import { describe, expect, test } from "bun:test";
import { lstatSync, writeFileSync } from "node:fs";
import type { Tree } from "../../../tests/harness/tree.ts";
import { reasonOf } from "../files/files.test-kit.ts";
import { readWholeFile } from "../files/read.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { entryIdentityOf } from "../jail/inode.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { verbsOn } from "../operations/verbs.test-kit.ts";
import { PlannedFixture } from "./planned.test-kit.ts";
import type { PlannedTree } from "./planned-tree.ts";

const limit = { key: "max_read_bytes", bytes: 1000 };
const kept = { uid: undefined, gid: undefined, recursive: false };
const plain = { mode: 0o644, overwrite: false, parents: true };

describe.each(backends)("a planned tree over %s", (backend) => {
  /** Returns the tree after the changes, once the steps are carried out. */
  async function after(tree: Tree, make: (on: Verbs) => Promise<unknown>): Promise<Tree> {
    using fixture = new PlannedFixture(backend, tree);
    const before = fixture.snapshot();
    const pending = fixture.pending();
    await make(new Verbs(pending, fixture));
    expect(fixture.snapshot()).toEqual(before);
    fixture.carryOut(pending);
    return fixture.tree();
  }

  test("a file that is made is edited, gets a mode, and moves", async () => {
    using fixture = new PlannedFixture(backend, {});
    const pending = fixture.pending();
    const on = new Verbs(pending, fixture);
    await on.create("s/a", "one");
    await on.append("s/a", " two");
    await on.chmod("s/a", 0o600);
    await on.move("s/a", "t/b");
    await on.append("t/b", " three");
    expect(on.text("t/b")).toBe("one two three");
    fixture.carryOut(pending);
    expect(fixture.tree()).toEqual({ "s/": null, "t/": null, "t/b": "one two three" });
    expect(fixture.mode("t/b")).toBe(0o600);
  });

  test("a folder of 2,000 entries is copied and changed by one call, and no larger one", async () => {
    for (const [count, refused] of [
      [2000, undefined],
      [2001, 'The folder "big" has more than 2000 entries, and is both copied and changed by one call.'],
    ] as const) {
      const tree = Object.fromEntries(Array.from({ length: count }, (_, index) => [`big/${index}`, ""]));
      using fixture = new PlannedFixture(backend, tree);
      const on = new Verbs(fixture.pending(), fixture);
      await on.copy("big", "copy");
      const create = on.create("copy/new", "new");
      if (refused === undefined) await create;
      else await expect(create).rejects.toThrow(refused);
    }
  });

  test("two names are swapped by three moves", async () => {
    const left = await after({ a: "a", b: "b" }, async (on) => {
      await on.move("a", "c");
      await on.move("b", "a");
      await on.move("c", "b");
    });
    expect(left).toEqual({ a: "b", b: "a" });
  });

  test("a folder moves, and a file in it is edited at the new path", async () => {
    const left = await after({ "s/t/a": "a" }, async (on) => {
      await on.move("s", "u");
      await on.append("u/t/a", "!");
      expect(await reasonOf(() => on.append("s/t/a", "!"))).toBe("missing");
    });
    expect(left).toEqual({ "u/": null, "u/t/": null, "u/t/a": "a!" });
  });

  test("a folder is copied, and changed in the copy", async () => {
    const tree = { "s/t/a": "a", "s/t/b": "b", "s/ln": { link: "t" } };
    const left = await after(tree, async (on) => {
      await on.copy("s", "u");
      await on.append("u/t/a", "!");
      await on.remove("u/t/b");
      await on.copy("u", "v");
    });
    const changed = { t: null, "t/a": "a!", ln: { link: "t" } };
    expect(left).toEqual({
      "s/": null,
      "s/ln": { link: "t" },
      "s/t/": null,
      "s/t/a": "a",
      "s/t/b": "b",
      ...Object.fromEntries(
        ["u", "v"].flatMap((name) => [
          [`${name}/`, null],
          [`${name}/t/`, null],
          [`${name}/t/a`, changed["t/a"]],
          [`${name}/ln`, changed.ln],
        ]),
      ),
    });
  });

  test("a file takes the place of a folder that goes, and the other way round", async () => {
    const left = await after({ "s/a": "a", b: "b" }, async (on) => {
      await on.remove("s", { recursive: true });
      await on.create("s", "file");
      await on.remove("b");
      await on.makeFolder("b");
      await on.create("b/c", "c");
    });
    expect(left).toEqual({ s: "file", "b/": null, "b/c": "c" });
  });

  test("a folder that becomes empty is removed", async () => {
    const left = await after({ "s/a": "a" }, async (on) => {
      expect(await reasonOf(() => on.remove("s"))).toBe("not-empty");
      await on.remove("s/a");
      await on.remove("s");
    });
    expect(left).toEqual({});
  });

  test("a link that is copied leads on", async () => {
    const left = await after({ "s/a": "a", ln: { link: "s" } }, async (on) => {
      await on.copy("ln", "other");
      await on.append("other/a", "!");
    });
    expect(left).toEqual({ "s/": null, "s/a": "a!", ln: { link: "s" }, other: { link: "s" } });
  });

  test("a revision is that of what the changes have left", async () => {
    using fixture = new PlannedFixture(backend, { a: "a" });
    const pending = fixture.pending();
    const on = new Verbs(pending, fixture);
    await on.append("a", "b");
    const [old, now] = ["a", "ab"].map((text) => revisionOfBytes([Buffer.from(text)]));
    expect(await reasonOf(() => on.remove("a", { expectedRevision: old }))).toBe("revision-mismatch");
    expect(pending.state("a")).toEqual({ kind: "file", mode: 0o644, revision: now });
    expect(await on.remove("a", { expectedRevision: now })).toBe(true);
    expect(pending.state("a")).toEqual({ kind: "absent" });
  });

  test("the revision of a large file is found in slices", async () => {
    using fixture = new PlannedFixture(backend, { a: "a", large: "text\n".repeat(1_000_000) });
    const pending = fixture.pending();
    expect(pending.stateInSlices("a")).toEqual(pending.state("a"));
    const found = pending.stateInSlices("large");
    expect(found).toBeInstanceOf(Promise);
    expect(await found).toEqual(pending.state("large"));
    writeFileSync(fixture.at("large"), "small");
    expect(await pending.stateInSlices("large")).toEqual(pending.state("large"));
  });

  test("a folder that holds something denied, or would, does not move", async () => {
    using fixture = new PlannedFixture(backend, { "s/t/.env": "1", "u/k": "k" });
    const on = new Verbs(fixture.pending(), fixture);
    await on.move("u", "v");
    expect(await reasonOf(() => on.move("s", "w"))).toBe("denied");
    expect(await reasonOf(() => on.move("v", "secrets"))).toBe("denied");
    expect(await reasonOf(() => on.create("s/t/.env", "2", { overwrite: true }))).toBe("denied");
  });

  test("a plan refuses what the disk refuses, and changes nothing", async () => {
    const tree: Tree = { a: "a", b: "b", "d/c": "c", "e/.env": "x", l: { link: "b" }, out: { link: ".env" } };
    using fixture = new PlannedFixture(backend, tree);
    const before = fixture.snapshot();
    const transfer = (from: string, to: string, overwrite = false) => ({
      from,
      to,
      overwrite,
      parents: true,
    });
    for (const verb of ["move", "copy"] as const) {
      const planned = (...paths: Parameters<typeof transfer>) =>
        verbsOn(fixture.pending())[verb](transfer(...paths), fixture.call);
      for (const [from, to] of [
        ["a", "n/m/x"],
        ["d", "n"],
        ["l", "m"],
      ] as const)
        expect(await planned(from, to)).toBe(true);
      expect(await planned("a", "b", true)).toBe(true);
      expect(await planned("a", "a")).toBe(false);
      for (const [from, to] of [
        ["a", "b"],
        ["a", "d"],
        ["d", "d/x"],
        ["e", "n"],
        ["no", "n"],
        ["a", ".env"],
        [".", "n"],
      ] as const) {
        const reason = await reasonOf(() => fixture.files[verb](transfer(from, to), fixture.call));
        expect([from, to, await reasonOf(() => planned(from, to))]).toEqual([from, to, reason]);
      }
    }
    const removal = { recursive: true, linkMayLeadAnywhere: true };
    expect(await verbsOn(fixture.pending()).remove("out", removal, fixture.call)).toBe(true);
    expect(fixture.snapshot()).toEqual(before);
  });

  test("contents larger together than they may be are refused", async () => {
    using fixture = new PlannedFixture(backend, { a: "123" });
    const on = new Verbs(fixture.pending({ maxBytes: 6 }), fixture);
    await on.create("b", "12");
    await on.append("a", "4");
    expect(await reasonOf(() => on.create("c", "1"))).toBe("too-large");
  });

  test("what is at a path, as it would be, of every kind", async () => {
    const tree = { "s/a": { text: "a", mode: 0o640 }, ln: { link: "s/a" }, p: { fifo: true } } as const;
    using fixture = new PlannedFixture(backend, { ...tree, "u/": { mode: 0o750 } });
    const pending = fixture.pending();
    const options = { changes: "entry", lastLink: "bare", mayBeMissing: true, parents: true } as const;
    using place = pending.jail.admit("new/ln", options);
    await pending.place({ place, made: { kind: "symlink", text: Buffer.from("nowhere") } }, fixture.call);
    expect(pending.state("new/ln")).toEqual({ kind: "symlink", text: Buffer.from("nowhere") });
    expect(pending.state("s/a")).toMatchObject({ kind: "file", mode: 0o640 });
    expect(pending.state("u")).toEqual({ kind: "dir", mode: 0o750 });
    const identity = entryIdentityOf(lstatSync(fixture.at("p"), { bigint: true }));
    expect(pending.state("p")).toEqual({ kind: "other", identity });
    expect(pending.state("s/none/deep")).toEqual({ kind: "absent" });
    fixture.carryOut(pending);
    expect(fixture.tree()).toMatchObject({ "new/ln": { link: "nowhere" } });
  });

  test("each step says which change it belongs to", async () => {
    using fixture = new PlannedFixture(backend, { a: "a", "s/b": "b" });
    const pending = fixture.pending();
    const on = new Verbs(pending, fixture);
    await on.create("t/n", "n");
    pending.change = 1;
    await on.move("a", "t/n", { overwrite: true });
    pending.change = 2;
    await on.chmod("s", 0o700);
    expect(pending.steps.map(({ change }) => change)).toEqual([0, 0, 1, 1, 2]);
    expect([...pending.keys].sort()).toEqual(["a", "s", "t/n"]);
  });
});

/** The verbs with their usual options. */
class Verbs {
  readonly pending: PlannedTree;
  readonly #fixture: PlannedFixture;
  readonly #verbs: ReturnType<typeof verbsOn>;

  constructor(pending: PlannedTree, fixture: PlannedFixture) {
    this.pending = pending;
    this.#fixture = fixture;
    this.#verbs = verbsOn(pending);
  }

  create = (path: string, text: string, options = {}) =>
    this.#verbs.create(path, Buffer.from(text), { ...plain, ...options }, this.#fixture.call);

  append = (path: string, text: string) =>
    this.#verbs.update(path, (before) => Buffer.concat([before, Buffer.from(text)]), this.#fixture.call);

  move = (from: string, to: string, options = {}) =>
    this.#verbs.move({ from, to, overwrite: false, parents: true, ...options }, this.#fixture.call);

  copy = (from: string, to: string) =>
    this.#verbs.copy({ from, to, overwrite: false, parents: true }, this.#fixture.call);

  remove = (path: string, options = {}) =>
    this.#verbs.remove(path, { recursive: false, ...options }, this.#fixture.call);

  makeFolder = (path: string) =>
    this.#verbs.makeFolder(path, { mode: 0o755, parents: true, mayExist: true }, this.#fixture.call);

  chmod = (path: string, mode: number) => this.#verbs.changeMode(path, { mode, ...kept }, this.#fixture.call);

  text = (path: string) => readWholeFile(this.pending.jail, path, { limit, use: String });
}
