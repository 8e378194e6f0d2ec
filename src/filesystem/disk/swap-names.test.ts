import { describe, expect, test } from "bun:test";
import {
  closeSync,
  lstatSync,
  openSync,
  readdirSync,
  readFileSync,
  renameSync,
  rmSync,
  writeFileSync,
} from "node:fs";
import { errnoError } from "../jail/errno.ts";
import { isLockedExclusively } from "../jail/flock.ts";
import type { JailedPath } from "../jail/folder.ts";
import { inodeAt } from "../jail/inode.ts";
import { JailFixture } from "../jail/jail.test-kit.ts";
import { exchangeNames } from "../jail/renameat2.ts";
import { awaitReplacement, replaceExpected, swapInSteps, swapVerified } from "./swap-names.ts";

const jailed = (path: string) => path as unknown as JailedPath;

function fixture() {
  const folder = new JailFixture({ "new": "ours", a: "old" });
  const [from, to] = [jailed(folder.at("new")), jailed(folder.at("a"))];
  const descriptor = openSync(folder.at("new"), "r");
  const ours = { path: from, descriptor, inode: inodeAt(from) };
  /** Replaces the file like an editor does. */
  const replace = (text: string) => {
    writeFileSync(folder.at("theirs"), text);
    renameSync(folder.at("theirs"), folder.at("a"));
  };
  const text = (name: string) => readFileSync(folder.at(name), "utf8");
  return { folder, from, ours, to, replace, text };
}

const stale = () => {
  throw errnoError("ESTALE");
};

test("the system that runs the tests can exchange names", () => {
  const { folder, from, to, text } = fixture();
  using _ = folder;
  expect(exchangeNames(from, to)).toBe(true);
  expect([text("new"), text("a")]).toEqual(["old", "ours"]);
  expect(exchangeNames(from, jailed(folder.at("none")))).toBe(false);
});

describe("a file is replaced", () => {
  test("when it is the expected one before and after the exchange", () => {
    const { folder, from, ours, to, text } = fixture();
    using _ = folder;
    const looks: unknown[] = [];
    replaceExpected(ours, to, {
      requireStats: (path, { isRenamed }) => looks.push([path === from, isRenamed]),
      requireContent: (path) => looks.push(readFileSync(path, "utf8")),
    });
    expect(looks).toEqual([[false, false], [true, true], "old"]);
    expect(text("a")).toBe("ours");
    expect(() => text("new")).toThrow("ENOENT");
  });

  test("not when the stats are others: then it is not touched", () => {
    const { folder, ours, to, text } = fixture();
    using _ = folder;
    expect(() => replaceExpected(ours, to, { requireStats: stale, requireContent: () => {} })).toThrow(
      "ESTALE",
    );
    expect([text("new"), text("a")]).toEqual(["ours", "old"]);
  });

  test("not by the one that came after the look: that is put back", () => {
    const { folder, ours, to, replace, text } = fixture();
    using _ = folder;
    const requireStats = (_: unknown, { isRenamed }: { isRenamed: boolean }) =>
      isRenamed ? stale() : replace("theirs");
    expect(() => replaceExpected(ours, to, { requireStats, requireContent: () => {} })).toThrow("ESTALE");
    expect([text("new"), text("a")]).toEqual(["ours", "theirs"]);
  });

  test("not when one comes after the look, and another after the exchange: the newest stays", () => {
    const { folder, ours, to, replace, text } = fixture();
    using _ = folder;
    const requireStats = (_: unknown, { isRenamed }: { isRenamed: boolean }) => {
      if (!isRenamed) replace("theirs");
    };
    const requireContent = () => {
      replace("newest");
      stale();
    };
    expect(() => replaceExpected(ours, to, { requireStats, requireContent })).toThrow("ESTALE");
    expect([text("new"), text("a")]).toEqual(["theirs", "newest"]);
  });

  test("not when it is removed after the exchange: it stays removed", () => {
    const { folder, ours, to, text } = fixture();
    using _ = folder;
    const requireContent = () => {
      rmSync(folder.at("a"));
      stale();
    };
    expect(() => replaceExpected(ours, to, { requireStats: () => {}, requireContent })).toThrow("ESTALE");
    expect(() => text("a")).toThrow("ENOENT");
  });
});

test("a worker waits for a file that another is giving its name", async () => {
  const { folder, ours, to } = fixture();
  using _ = folder;
  const reader = openSync(folder.at("new"), "r");
  let isDone = false;
  const requireContent = () => {
    void awaitReplacement(reader).then(() => (isDone = true));
    expect(isLockedExclusively(reader)).toBe(true);
  };
  replaceExpected(ours, to, { requireStats: () => {}, requireContent });
  await Promise.resolve();
  expect(isDone).toBe(false);
  closeSync(ours.descriptor);
  await awaitReplacement(reader);
  closeSync(reader);
});

describe("a swap that can be taken back", () => {
  const names = (folder: JailFixture) => ({
    temporary: jailed(folder.at("new")),
    name: jailed(folder.at("a")),
    aside: jailed(folder.at("third")),
  });

  test.each([
    ["a file", { "new": "ours", a: "old" }],
    ["a link", { "new": "ours", a: { link: "old" } }],
    ["a file by a link", { "new": { link: "ours" }, a: "old" }],
  ] as const)("in single steps: %s", (_, tree) => {
    using folder = new JailFixture(tree);
    const inodes = () => ["new", "a"].map((name) => lstatSync(folder.at(name)).ino);
    const before = inodes();
    swapInSteps(names(folder));
    expect(inodes()).toEqual(before.toReversed());
    expect(readdirSync(folder.base).sort()).toEqual(["a", "new"]);
    swapInSteps(names(folder));
    expect(inodes()).toEqual(before);
  });

  test("in single steps: a failure leaves all as it was", () => {
    using folder = new JailFixture({ a: "old" });
    expect(() => swapInSteps(names(folder))).toThrow("ENOENT");
    expect(readdirSync(folder.base)).toEqual(["a"]);
    using linked = new JailFixture({ "a/b": "old" });
    expect(() => swapInSteps(names(linked))).toThrow("ENOENT");
    expect(readdirSync(linked.base)).toEqual(["a"]);
  });

  test("what is refused afterwards gets its name back, and a newer one keeps it", () => {
    const { folder, replace, text } = fixture();
    using _ = folder;
    expect(() => swapVerified(names(folder), stale)).toThrow("ESTALE");
    expect([text("new"), text("a")]).toEqual(["ours", "old"]);
    const staleAfterAnother = () => {
      replace("newest");
      stale();
    };
    expect(() => swapVerified(names(folder), staleAfterAnother)).toThrow("ESTALE");
    expect([text("new"), text("a")]).toEqual(["old", "newest"]);
  });
});
