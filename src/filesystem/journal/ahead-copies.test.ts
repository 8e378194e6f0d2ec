import { expect, spyOn, test } from "bun:test";
import {
  appendFileSync,
  existsSync,
  linkSync,
  lstatSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { hashFileAhead, largestHashed } from "../disk/hash-ahead.ts";
import { entriesAt } from "../disk/held-entry.ts";
import type { Requester } from "../disk/mutation.ts";
import { reasonOf } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { temporaryName } from "../jail/temporary.ts";
import { fileOf, TransactionsFixture } from "../transactions/transactions.test-kit.ts";
import { JournalFixture } from "./journal.test-kit.ts";
import { contentOf } from "./read-record.ts";

const mebibyte = 1024 * 1024;
const large = { max_bytes: 1024 * mebibyte };
const size = 40 * mebibyte;

/** Makes a sparse file that is too large for a step to copy, and that begins with its own path. */
function makeLarge(at: string): void {
  writeFileSync(at, at);
  truncateSync(at, size);
}

const copiesFolder = (at: JournalFixture) => join(at.journal.state.location, "copies");

/** Returns the host paths of the unused copies. */
function copiesIn(at: JournalFixture): string[] {
  const folder = copiesFolder(at);
  return existsSync(folder) ? readdirSync(folder).map((name) => join(folder, name)) : [];
}

const inodesOf = (paths: readonly string[]) => paths.map((path) => lstatSync(path).ino);

/** Collects the inodes of copies that steps have made contents, and those of other large contents. */
function watchSteps(
  at: JournalFixture,
): Disposable & { readonly renamed: number[]; readonly other: number[] } {
  const { journal } = at;
  const before = journal.before.bind(journal);
  const [renamed, other]: [number[], number[]] = [[], []];
  const spy = spyOn(journal, "before").mockImplementation((mutation) => {
    const kept = () => (existsSync(at.segments) ? at.keptFiles() : []);
    const known = inodesOf(kept());
    const copies = inodesOf(copiesIn(at));
    before(mutation);
    for (const path of kept()) {
      const { ino, size: length } = lstatSync(path);
      if (length < 4 * mebibyte || known.includes(ino)) continue;
      if (copies.includes(ino)) renamed.push(ino);
      else other.push(ino);
    }
  });
  return { renamed, other, [Symbol.dispose]: () => spy.mockRestore() };
}

/** Runs `act` after the journal has read a file ahead, before the step that removes it. */
function beforeStep(at: JournalFixture, act: () => unknown): Disposable {
  const { journal } = at;
  const readAhead = journal.readAhead.bind(journal);
  const spy = spyOn(journal, "readAhead").mockImplementation(async (entries, requester) => {
    await readAhead(entries, requester);
    await act();
  });
  return { [Symbol.dispose]: () => spy.mockRestore() };
}

const here = { overwrite: true, parents: false };
const remove = (at: JournalFixture, call: Requester) => at.files.remove("f", { recursive: false }, call);

const changes: Record<string, (at: JournalFixture, call: Requester) => Promise<unknown>> = {
  removed: remove,
  "removed with its revision": (at, call) => {
    const expectedRevision = revisionOfBytes([readFileSync(at.bench.at("f"))]);
    return at.files.remove("f", { recursive: false, expectedRevision }, call);
  },
  "removed with its folder": (at, call) => at.files.remove("d", { recursive: true }, call),
  "replaced by a new content": (at, call) =>
    at.files.create("f", Buffer.from("new"), { mode: 0o644, ...here }, call),
  edited: (at, call) => at.files.update("f", () => Buffer.from("new"), call),
  "replaced by a file that arrives in pieces": (at, call) => {
    const pieces = (async function* () {
      yield Buffer.from("new");
    })();
    return at.files.store("f", pieces, { mode: undefined, parents: false }, call);
  },
  "replaced by a copy": (at, call) => at.files.copy({ from: "small", to: "f", ...here }, call),
  "replaced by a copied link": (at, call) => at.files.copy({ from: "link", to: "f", ...here }, call),
  "replaced by its other name": (at, call) => {
    linkSync(at.bench.at("f"), at.bench.at("other"));
    return at.files.move({ from: "other", to: "f", ...here }, call);
  },
  "replaced by a moved file": (at, call) => at.files.move({ from: "small", to: "f", ...here }, call),
};

test.each(Object.keys(changes))(
  "a large file that is %s was copied before, and comes back",
  async (change) => {
    const name = change === "removed with its folder" ? "d/f" : "f";
    using at = new JournalFixture(
      "descriptors",
      { small: "small", link: { link: "small" }, "d/": null },
      large,
    );
    makeLarge(at.bench.at(name));
    const content = readFileSync(at.bench.at(name));
    const call = at.call();
    {
      using steps = watchSteps(at);
      await changes[change]!(at, call);
      expect([steps.renamed.length, steps.other.length]).toEqual([1, 0]);
    }
    expect(at.journal.lossesOf(call)).toBe(0);
    expect(copiesIn(at)).toEqual([]);
    for (const path of at.keptFiles()) expect(lstatSync(path).mode & 0o777).toBe(0o600);
    await at.undo();
    expect(readFileSync(at.bench.at(name)).equals(content)).toBe(true);
  },
);

test.each([
  ["was hashed ahead is copied before", 1000, [1, 0]],
  ["changed just now is copied in the step", 0, [0, 1]],
] as const)("a file of 5 MiB that %s", async (_, age, counts) => {
  using at = new JournalFixture("descriptors", {}, large);
  const content = Buffer.alloc(5 * mebibyte, "line\n");
  writeFileSync(at.bench.at("f"), content);
  const now = Date.now() + age;
  using _clock = spyOn(Date, "now").mockImplementation(() => now);
  const call = at.call();
  {
    using steps = watchSteps(at);
    await at.files.update("f", () => Buffer.from("new"), call);
    expect([steps.renamed.length, steps.other.length]).toEqual([...counts]);
  }
  expect(at.journal.lossesOf(call)).toBe(0);
  expect(copiesIn(at)).toEqual([]);
  await at.undo();
  expect(readFileSync(at.bench.at("f")).equals(content)).toBe(true);
});

test("a large file that moves in two steps is copied before the second one", async () => {
  using at = new JournalFixture("current-directory", { "d/": null, "e/": null }, large);
  makeLarge(at.bench.at("d/f"));
  const content = readFileSync(at.bench.at("d/f"));
  {
    using steps = watchSteps(at);
    await at.files.move({ from: "d/f", to: "e/f", overwrite: false, parents: false }, at.call());
    expect([steps.renamed.length, steps.other.length]).toEqual([1, 0]);
  }
  expect(copiesIn(at)).toEqual([]);
  await at.undo();
  expect(readFileSync(at.bench.at("d/f")).equals(content)).toBe(true);
});

test("a large file that is only moved is not copied", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  makeLarge(at.bench.at("f"));
  const seen: string[][] = [];
  using _ = beforeStep(at, () => seen.push(copiesIn(at)));
  const call = at.call();
  await at.files.move({ from: "f", to: "g", overwrite: false, parents: false }, call);
  expect([seen, at.journal.lossesOf(call)]).toEqual([[[]], 0]);
});

test("the large files that a transaction replaces and removes were copied before, and are kept", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  using fixture = new TransactionsFixture("descriptors", {}, [at.journal]);
  for (const path of ["a", "b"]) makeLarge(fixture.at(path));
  const contents = ["a", "b"].map((path) => readFileSync(fixture.at(path)));
  const expected = (path: string) => fixture.version(path);
  {
    using steps = watchSteps(at);
    await fixture.commit([
      { kind: "exchange", path: "a", staged: fileOf("new"), expected: expected("a"), change: 0 },
      { kind: "set-aside", path: "b", expected: expected("b"), change: 1 },
    ]);
    expect([steps.renamed.length, steps.other.length]).toEqual([2, 0]);
  }
  const [record] = at.read();
  for (const [index, step] of record!.steps.entries()) {
    const { state } = step.before;
    if (state.kind !== "file") throw new Error("no file was kept");
    const kept = { place: state.content!, revision: state.revision };
    const content = await contentOf(at.journal, step, kept, async () => {});
    expect(content?.equals(contents[index]!)).toBe(true);
  }
});

test("large files that many calls remove at once are all kept", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  const names = Array.from({ length: 8 }, (_, index) => `f${index}`);
  for (const name of names) makeLarge(at.bench.at(name));
  const calls = names.map(() => at.call());
  await Promise.all(names.map((name, index) => at.files.remove(name, { recursive: false }, calls[index]!)));
  expect(calls.map((call) => at.journal.lossesOf(call))).toEqual(names.map(() => 0));
  expect(copiesIn(at)).toEqual([]);
});

const spoilers: Record<string, (at: JournalFixture, path: string) => unknown> = {
  "that has grown since": (_, path) => appendFileSync(path, "x"),
  "that was rewritten since, and hashed again": async (at, path) => {
    writeFileSync(path, "other", { flag: "r+" });
    using folder = at.bench.jailed.reopenFolder("");
    await hashFileAhead(entriesAt({ folder, name: "f" }).replaced(), largestHashed);
  },
  "whose copy is gone": (at) => rmSync(copiesFolder(at), { recursive: true }),
};

test.each(Object.keys(spoilers))(
  "a large file %s is unavailable, and not copied in the step",
  async (how) => {
    using at = new JournalFixture("descriptors", {}, large);
    const path = at.bench.at("f");
    makeLarge(path);
    using _ = beforeStep(at, () => spoilers[how]!(at, path));
    using steps = watchSteps(at);
    const call = at.call();
    await remove(at, call);
    expect([steps.renamed.length, steps.other.length]).toEqual([0, 0]);
    expect(at.read()[0]!.steps).toMatchObject([{ path: "f", unavailable: "too-large" }]);
    expect(at.journal.lossesOf(call)).toBe(1);
    at.journal.close();
    expect(copiesIn(at)).toEqual([]);
  },
);

test("the copy of a step is used again if other workers have filled the segment first", async () => {
  // Two records in each segment.
  const bounds = { ...large, max_records: 16 };
  using at = new JournalFixture("descriptors", {}, large);
  const [journal, other] = [at.openJournal(bounds), at.openJournal(bounds)];
  makeLarge(at.bench.at("f"));
  at.keepStep(journal, "first");
  using folder = at.bench.jailed.reopenFolder("");
  const entries = entriesAt({ folder, name: "f" });
  const requester = at.call();
  await journal.readAhead(entries, requester);
  at.keepStep(other, "second");
  const revisions = { revisionBefore: () => undefined, revisionAfter: () => undefined };
  journal.before({
    kind: "remove",
    path: "f",
    entry: "file",
    isTree: false,
    ...revisions,
    entries,
    requester,
  });
  expect(journal.lossesOf(requester)).toBe(0);
  expect(journal.checkpointOf(requester)).toBe(3);
  expect(copiesIn(at)).toEqual([]);
  for (const one of [journal, other]) one.close();
});

/** Lets the journal read files ahead for steps that never come. */
async function readInVain(at: JournalFixture, names: readonly string[]): Promise<void> {
  for (const name of names) makeLarge(at.bench.at(name));
  using folder = at.bench.jailed.reopenFolder("");
  await Promise.all(names.map((name) => at.journal.readAhead(entriesAt({ folder, name }), at.call())));
}

test("few copies are kept for steps that do not come, and none after a while", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  const { setTimeout: real } = globalThis;
  const ends: (() => void)[] = [];
  using _ = spyOn(globalThis, "setTimeout").mockImplementation(((end: () => void, ms: number) => {
    ends.push(end);
    return real(end, ms);
  }) as typeof setTimeout);
  let most = 0;
  let turn: NodeJS.Immediate;
  const look = () => {
    most = Math.max(most, copiesIn(at).length);
    turn = setImmediate(look);
  };
  look();
  await readInVain(at, ["a", "b", "c", "d", "e", "f", "g", "h"]);
  clearImmediate(turn!);
  expect(most).toBeLessThanOrEqual(5);
  expect(copiesIn(at)).toHaveLength(4);
  for (const path of copiesIn(at)) expect(lstatSync(path).mode & 0o777).toBe(0o600);
  for (const end of ends) end();
  expect(copiesIn(at)).toEqual([]);
});

test("no copy outlives its journal, not even that of a killed process", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  await readInVain(at, ["f"]);
  expect(copiesIn(at)).toHaveLength(1);
  at.journal.close();
  expect(copiesIn(at)).toEqual([]);
  const killed = temporaryName().replace(/-[0-9a-z]+-([0-9a-f]{16})$/, "-1-$1");
  const running = temporaryName();
  for (const name of [killed, running]) writeFileSync(join(copiesFolder(at), name), "x");
  const next = at.openJournal(large);
  at.keepStep(next, "d");
  expect(readdirSync(copiesFolder(at))).toEqual([running]);
  next.close();
});

test("a file that does not fit into the rest of the call's record is not copied", async () => {
  using at = new JournalFixture("descriptors", {}, { max_bytes: 64 * mebibyte });
  for (const name of ["f", "g"]) makeLarge(at.bench.at(name));
  const seen: number[] = [];
  using _ = beforeStep(at, () => seen.push(copiesIn(at).length));
  const call = at.call();
  for (const name of ["f", "g"]) await at.files.remove(name, { recursive: false }, call);
  expect(seen).toEqual([1, 0]);
  expect(at.read()[0]!.steps).toMatchObject([{ path: "f" }, { path: "g", unavailable: "too-large" }]);
  expect(at.keptBytes()).toBeLessThan(64 * mebibyte);
});

test("a copy that cannot be written fails no call, and its step says why", async () => {
  using at = new JournalFixture("descriptors", {}, large);
  at.keepStep(at.journal, "first");
  makeLarge(at.bench.at("f"));
  writeFileSync(copiesFolder(at), "in the way");
  const call = at.call();
  expect(await reasonOf(() => remove(at, call))).toBe("done");
  expect(at.read()[0]!.steps).toMatchObject([{ path: "f", unavailable: "not-written" }]);
  expect(at.journal.failure).toBe("EEXIST");
  rmSync(copiesFolder(at));
  mkdirSync(copiesFolder(at));
  makeLarge(at.bench.at("f"));
  await remove(at, call);
  expect([at.journal.failure, at.journal.lossesOf(call)]).toEqual([undefined, 1]);
});
