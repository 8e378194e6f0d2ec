/**
 * Tests that a call resolves transactions that were left half done: rolled back later, or given up without a
 * loss.
 */
import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { isTemporary } from "../jail/temporary.ts";
import { everyKind, fileOf, sampleTree, TransactionsFixture } from "./transactions.test-kit.ts";

const steps = 22;

/** Returns the inodes of all files and links below a folder, with their paths. */
function inodesIn(folder: string, path = ""): Map<number, string> {
  const found = new Map<number, string>();
  for (const entry of readdirSync(join(folder, path), { withFileTypes: true })) {
    const inner = join(path, entry.name);
    if (entry.isDirectory()) for (const [ino, at] of inodesIn(folder, inner)) found.set(ino, at);
    else found.set(lstatSync(join(folder, inner)).ino, inner);
  }
  return found;
}

/** Changes by other programs between the kill and the next start, each with a function that reverts it. */
const foreignChanges: Readonly<Record<string, (at: (path: string) => string) => (() => void) | undefined>> = {
  "a file where one was removed": (at) => {
    writeFileSync(at("hard-1"), "theirs");
    return () => unlinkSync(at("hard-1"));
  },
  "a folder moved away": (at) => {
    renameSync(at("newer"), at("newest"));
    return () => renameSync(at("newest"), at("newer"));
  },
  "a file in a new folder": (at) => {
    writeFileSync(at("copy/theirs"), "theirs");
    return () => unlinkSync(at("copy/theirs"));
  },
  "a new content": (at) => {
    appendFileSync(at("copy/deep/y.txt"), "theirs");
    return undefined;
  },
};

describe.each(Object.entries(foreignChanges))("%s", (_, change) => {
  const leave = async (fixture: TransactionsFixture) => {
    await fixture.crashAfter(everyKind(fixture), steps);
    const revert = change((path) => fixture.at(path));
    await fixture.recover();
    expect(fixture.records()).toEqual([".conflict"]);
    const [id = ""] = fixture.transactions.unresolved;
    return { id, revert };
  };

  test("nothing is changed without force, and given up with it nothing is lost and nothing hidden", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = inodesIn(fixture.base);
    const { id } = await leave(fixture);
    const left = fixture.snapshot();
    const options = { force: false, requester: fixture.call };
    const tried = (await fixture.transactions.resolve(id, options))!;
    expect(tried.outcome).toBe("in-conflict");
    expect(tried.paths.length).toBeGreaterThan(0);
    expect(tried.paths.flatMap((path) => path.split("/")).filter(isTemporary)).toEqual([]);
    expect(fixture.snapshot()).toEqual(left);
    expect(fixture.transactions.unresolved).toEqual([id]);
    const { outcome, paths } = (await fixture.transactions.resolve(id, { ...options, force: true }))!;
    expect(outcome).toBe("given-up");
    const after = inodesIn(fixture.base);
    for (const [ino, path] of before) expect([path, after.has(ino)]).toEqual([path, true]);
    const names = [...fixture.snapshot().keys()].flatMap((path) => path.split("/"));
    expect(names.filter(isTemporary)).toEqual([]);
    for (const path of paths) expect(lstatSync(fixture.at(path)).ino).toBeGreaterThan(0);
    expect([fixture.records(), fixture.transactions.unresolved]).toEqual([[], []]);
    expect(await fixture.transactions.resolve(id, options)).toBeUndefined();
  });

  test("it is taken back once the other program has taken its change back", async () => {
    using fixture = new TransactionsFixture("descriptors", sampleTree);
    const before = fixture.snapshot();
    const { id, revert } = await leave(fixture);
    if (revert === undefined) return;
    revert();
    const resolved = await fixture.transactions.resolve(id, { force: true, requester: fixture.call });
    expect(resolved).toEqual({ outcome: "taken-back", paths: [] });
    expect(fixture.snapshot()).toEqual(before);
    expect(fixture.records()).toEqual([]);
  });
});

test("a record that is not whole is given up with force only, and 64 keep others from being begun", async () => {
  using fixture = new TransactionsFixture("descriptors", sampleTree);
  await fixture.commit([{ kind: "place", path: "one", staged: fileOf("1"), change: 0 }]);
  const folder = fixture.state.path("intents");
  mkdirSync(folder, { recursive: true });
  const ids = Array.from({ length: 64 }, (_, index) => index.toString(16).padStart(16, "0"));
  for (const id of ids) writeFileSync(join(folder, `${id}.conflict`), "torn");
  const commit = () => fixture.commit([{ kind: "place", path: "two", staged: fileOf("2"), change: 0 }]);
  await expect(commit()).rejects.toThrow("64 earlier ones were left half done");
  expect(fixture.transactions.unresolved).toEqual(ids);
  const options = { force: false, requester: fixture.call };
  const [id = ""] = ids;
  expect(await fixture.transactions.resolve(id, options)).toEqual({ outcome: "in-conflict", paths: [] });
  await expect(commit()).rejects.toThrow("64 earlier ones");
  const given = await fixture.transactions.resolve(id, { ...options, force: true });
  expect(given).toEqual({ outcome: "given-up", paths: [] });
  await commit();
  expect(fixture.transactions.unresolved).toEqual(ids.slice(1));
});
