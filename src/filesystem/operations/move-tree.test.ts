import { afterAll, describe, expect, test } from "bun:test";
import { appendFileSync, existsSync, lstatSync, mkdirSync, mkdtempSync, readdirSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { addToTree, snapshotTree, type Tree, treeOf } from "../../../tests/harness/tree.ts";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import { openDisk } from "../disk/disk.ts";
import type { MutationListener, Requester } from "../disk/mutation.ts";
import { Recorder } from "../disk/recorder.test-kit.ts";
import { reasonOf } from "../files/files.test-kit.ts";
import { backends, JailFixture, openRootsAtOnce } from "../jail/jail.test-kit.ts";
import { DiskTree } from "./disk-tree.ts";
import { verbsOn } from "./verbs.test-kit.ts";

const directory = process.cwd();
afterAll(() => process.chdir(directory));

const tree: Tree = {
  "one/d/a.txt": { text: "a", mode: 0o640 },
  "one/d/deep/b.txt": "b".repeat(2000),
  "one/d/deep/link": { link: "../a.txt" },
  "one/d/empty/": { mode: 0o700 },
  "two/": null,
};

const moved: Tree = {
  "one/": null,
  "two/": null,
  "two/d/": null,
  "two/d/a.txt": "a",
  "two/d/deep/": null,
  "two/d/deep/b.txt": "b".repeat(2000),
  "two/d/deep/link": { link: "../a.txt" },
  "two/d/empty/": null,
};

describe.each(backends)("%s", (backend) => {
  function open(given: Tree, listeners: readonly MutationListener[] = [], one?: string) {
    const fixture = new JailFixture(given);
    const roots = [
      { name: "one", path: one ?? fixture.at("one") },
      { name: "two", path: fixture.at("two") },
    ];
    const jail = openRootsAtOnce({ roots, deny: compileGlobSet(["**/.env"]), backend });
    const disk = openDisk({ jail, config: { max_write_bytes: 1000, fsync: false }, listeners });
    const files = verbsOn(new DiskTree(disk));
    const move = (call: Partial<Requester> = {}, to = "two/d") =>
      files.move(
        { from: "one/d", to, overwrite: false, parents: true },
        { deadline: deadlineIn(Number.POSITIVE_INFINITY), ...call },
      );
    return {
      fixture,
      move,
      tree: () => treeOf(snapshotTree(fixture.root)),
      [Symbol.dispose]() {
        jail.close();
        fixture[Symbol.dispose]();
      },
    };
  }

  test("a folder is moved whole, with modes and times, whatever its files measure", async () => {
    const recorder = new Recorder();
    using at = open(tree, [recorder]);
    const { mtimeMs } = lstatSync(at.fixture.at("one/d/a.txt"));
    expect(await at.move()).toBe(true);
    expect(at.tree()).toEqual(moved);
    const { mode, mtimeMs: now } = lstatSync(at.fixture.at("two/d/a.txt"));
    expect([mode & 0o777, now]).toEqual([0o640, Math.trunc(mtimeMs)]);
    expect(lstatSync(at.fixture.at("two/d/empty")).mode & 0o777).toBe(0o700);
  });

  test("it may come from another file system", async () => {
    const other = mkdtempSync(join(existsSync("/dev/shm") ? "/dev/shm" : tmpdir(), "coder-"));
    try {
      addToTree(other, { "d/a.txt": "a", "d/deep/b.txt": "b" });
      using at = open(tree, [], other);
      expect(await at.move({}, "two/new/d")).toBe(true);
      expect(at.tree()).toMatchObject({ "two/new/d/a.txt": "a", "two/new/d/deep/b.txt": "b" });
      expect(readdirSync(other)).toEqual([]);
    } finally {
      rmSync(other, { recursive: true });
    }
  });

  test("one that holds something denied stays, and so does one with a FIFO", async () => {
    for (const [more, reason] of [
      [{ "one/d/deep/.env": "password" }, "denied"],
      [{ "one/d/deep/fifo": { fifo: true } }, "wrong-kind"],
    ] as const) {
      using at = open({ ...tree, ...more });
      const before = at.tree();
      expect(await reasonOf(() => at.move())).toBe(reason);
      expect(at.tree()).toEqual(before);
    }
  });

  test("one that is changed at the last moment stays, beside another one that takes its name", async () => {
    const listener: MutationListener = {
      before: ({ kind, isTree }) =>
        kind === "remove" && !isTree && appendFileSync(at.fixture.at("one/d/a.txt"), "theirs"),
      after: ({ kind, isTree }) => kind === "remove" && !isTree && mkdirSync(at.fixture.at("one/d")),
    };
    using at = open(tree, [listener]);
    const error = await at.move().then(String, ({ message }: Error) => message);
    const name = readdirSync(at.fixture.at("one")).find((one) => one !== "d")!;
    expect(name).toMatch(/^d\.kept-[0-9a-f]{8}$/);
    expect(error).toContain(`"one/${name}" was changed by another program`);
    expect(at.tree()).toMatchObject({ "one/d/": null, [`one/${name}/a.txt`]: "atheirs", "two/d/a.txt": "a" });
  });

  test("one that is changed while it is copied stays, and there is no copy", async () => {
    using at = open(tree);
    let isChanged = false;
    const deadline = deadlineIn(Number.POSITIVE_INFINITY);
    const check = () => {
      // The copy exists under a temporary name.
      if (!isChanged && readdirSync(at.fixture.at("two")).length > 0) {
        isChanged = true;
        appendFileSync(at.fixture.at("one/d/a.txt"), "theirs");
      }
      deadline.check();
    };
    const watched = new Proxy(deadline, {
      get: (_, key) => (key === "check" ? check : Reflect.get(deadline, key, deadline)),
    });
    expect(await reasonOf(() => at.move({ deadline: watched }))).toBe("io");
    expect(isChanged).toBe(true);
    expect(at.tree()).toMatchObject({ "one/d/a.txt": "atheirs" });
    expect(Object.keys(at.tree()).filter((key) => key.startsWith("two/"))).toEqual(["two/"]);
  });

  test("one that is changed when it was copied stays, beside the copy", async () => {
    let theirs = () => {};
    using at = open(tree, [
      {
        before({ kind, path }) {
          if (kind === "remove" && path === "one/d") theirs();
        },
      },
    ]);
    theirs = () => appendFileSync(at.fixture.at("one/d/deep/b.txt"), "theirs");
    const refusal = await at.move().catch((error: unknown) => error);
    expect(String(refusal)).toContain('"two/d" has a copy of what it was before');
    expect(at.tree()).toMatchObject({
      "one/d/deep/b.txt": `${"b".repeat(2000)}theirs`,
      "two/d/deep/b.txt": "b".repeat(2000),
    });
    expect(Object.keys(at.tree()).filter((key) => key.includes(".coder-tmp-"))).toEqual([]);
  });
});
