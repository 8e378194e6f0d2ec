import { describe, expect, test } from "bun:test";
import {
  chmodSync,
  closeSync,
  openSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { entriesAt } from "../disk/held-entry.ts";
import type { Mutation, MutationKind, Requester, StepEntries } from "../disk/mutation.ts";
import { reasonOf } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { entryIdentityOf } from "../jail/inode.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { JournalFixture, loopIterationsDuring } from "./journal.test-kit.ts";
import { contentOf, type JournalRecord } from "./read-record.ts";

const small = { mode: 0o640, overwrite: true, parents: true };
const revision = (text: string) => revisionOfBytes([Buffer.from(text)]);
const file = (text: string, mode = 0o644) => ({ kind: "file" as const, mode, revision: revision(text) });
const absent = { kind: "absent" as const };

/** Returns the steps of a record, without fields that differ between two runs. */
const stepsOf = ({ steps }: JournalRecord) =>
  steps.map(({ kind, path, from, before, after, unavailable }) => ({
    kind,
    path,
    ...(from !== undefined && { from }),
    ...(unavailable !== undefined ? { unavailable } : { before: bare(before), after: bare(after) }),
  }));

function bare(tree: object): object {
  return JSON.parse(JSON.stringify(tree, (key, value) => (key === "content" ? undefined : value)));
}

const noPause = async () => {};
const manyFiles = Object.fromEntries(Array.from({ length: 60 }, (_, index) => [`d/${index}`, "x"]));

/** Returns a step that removes a folder, of a change of this kind. */
function removal(
  requester: Requester,
  { kind, entries }: { readonly kind: MutationKind; readonly entries: StepEntries },
): Mutation {
  const described = { path: "", entry: "dir", requester } as const;
  const revisions = { revisionBefore: () => undefined, revisionAfter: () => undefined };
  const whole = { ...described, ...revisions, kind, isTree: true };
  return { ...described, ...revisions, kind: "remove", path: "gone", isTree: false, whole, entries };
}

/** Lets the journal read the folder `d` as one that a transaction has set aside. */
async function setAside(at: JournalFixture): Promise<void> {
  using folder = at.bench.jailed.reopenFolder("");
  const entries = entriesAt({ folder, name: "gone", aside: "d" });
  at.journal.before(removal(at.call(), { kind: "transaction", entries }));
  expect(at.read()).toEqual([]);
  await at.journal.readAside(entries);
}

describe.each(backends)("%s", (backend) => {
  test("a record holds what one call changed, and for whom", async () => {
    using at = new JournalFixture(backend, { f: "old" });
    await at.files.create("d/n", Buffer.from("new"), small, at.call());
    await at.files.update("f", () => Buffer.from("newer"), at.call("other::call"));
    const [second, first] = at.read();
    expect(first).toMatchObject({ seq: 1, function_id: "test::call", caller: "tester" });
    expect(stepsOf(first!)).toEqual([
      { kind: "place", path: "d", before: { state: absent }, after: { state: { kind: "dir" } } },
      { kind: "place", path: "d/n", before: { state: absent }, after: { state: file("new", 0o640) } },
    ]);
    expect(second).toMatchObject({ seq: 2, function_id: "other::call" });
    expect(stepsOf(second!)).toEqual([
      { kind: "place", path: "f", before: { state: file("old") }, after: { state: file("newer") } },
    ]);
    const step = second!.steps[0]!;
    const { state } = step.before;
    const place = state.kind === "file" ? state.content! : undefined;
    const content = contentOf(at.journal, step, { place: place!, revision: revision("old") }, noPause);
    expect((await content)?.toString()).toBe("old");
    expect(at.logLines).toEqual([]);
  });

  test("a large content is read and checked in pieces, and not hashed again", async () => {
    const large = Buffer.alloc(5_000_000, "text\n");
    using at = new JournalFixture(backend, { f: large.toString() });
    await at.files.remove("f", { recursive: false }, at.call());
    const step = at.read()[0]!.steps[0]!;
    const { state } = step.before;
    if (state.kind !== "file") throw new Error("no file was kept");
    let pauses = 0;
    const read = (content: { revision: string }) =>
      contentOf(at.journal, step, { place: state.content!, ...content }, async () => {
        pauses++;
      });
    const content = await read(state);
    expect(content?.equals(large)).toBe(true);
    expect(pauses).toBe(4);
    expect(revisionOfBytes([content!.fill(0)])).toBe(state.revision);
    expect(await read({ revision: revision("another") })).toBeUndefined();
  });

  test("a large file in a folder that is removed or placed is copied and hashed in slices", async () => {
    const large = Buffer.alloc(20 * 1024 * 1024, "text\n");
    using at = new JournalFixture(backend, { "d/f": "" });
    writeFileSync(join(at.bench.base, "d/f"), large);
    using folder = at.bench.jailed.reopenFolder("");
    const placed = entriesAt({ folder, name: "other", temporary: "d" });
    expect(await loopIterationsDuring(() => at.journal.readPlaced(placed))).toBeGreaterThan(50);
    const { now } = Date;
    const call = at.call();
    Date.now = () => now() + 1000;
    try {
      expect(
        await loopIterationsDuring(() => at.files.remove("d", { recursive: true }, call)),
      ).toBeGreaterThan(50);
    } finally {
      Date.now = now;
    }
    const [kept] = at.read()[0]!.steps;
    expect(kept!.before).toEqual({
      state: { ...file(""), revision: revisionOfBytes([large]), content: { blob: 0, length: large.length } },
    });
  });

  test("a folder that is placed is read in slices", async () => {
    using at = new JournalFixture(backend, manyFiles);
    using folder = at.bench.jailed.reopenFolder("");
    const entries = entriesAt({ folder, name: "other", temporary: "d" });
    expect(await loopIterationsDuring(() => at.journal.readPlaced(entries))).toBeGreaterThan(5);
  });

  test("a folder that a transaction has set aside is read in slices", async () => {
    using at = new JournalFixture(backend, manyFiles);
    const iterations = await loopIterationsDuring(() => setAside(at));
    expect(iterations).toBeGreaterThan(5);
    const kept = at.read()[0]!.steps.map(({ path }) => path);
    const names = Object.keys(manyFiles).map((path) => path.replace("d/", "gone/"));
    expect(kept.sort()).toEqual(["gone", ...names].sort());
  });

  test("a folder that goes to another root is read in slices, before the step that removes it", async () => {
    using at = new JournalFixture(backend, manyFiles);
    using folder = at.bench.jailed.reopenFolder("");
    const requester = at.call();
    let readings = 0;
    const aside = entriesAt({ folder, name: "d", aside: "gone" });
    const replaced = () => {
      readings++;
      return aside.replaced();
    };
    const entries = { ...aside, replaced };
    const reading = () => at.journal.readRemoved(entries, requester);
    expect(await loopIterationsDuring(reading)).toBeGreaterThan(5);
    expect(at.read()).toEqual([]);
    at.journal.before(removal(requester, { kind: "rename", entries }));
    expect(readings).toBe(1);
    expect(at.read()[0]!.steps).toHaveLength(61);
  });

  test("small contents beyond 4 MiB are kept beside their frame, whose write would take long", async () => {
    const text = (index: number) => `${index} `.repeat(350_000 + index);
    const tree = Object.fromEntries(Array.from({ length: 9 }, (_, index) => [`d/${index}`, text(index)]));
    using at = new JournalFixture(backend, tree);
    await setAside(at);
    const [step, ...others] = at.read()[0]!.steps.toReversed();
    const places = others.map(({ path, before: { state } }) => {
      if (state.kind !== "file") throw new Error("no file was kept");
      return { name: path.slice("gone/".length), place: state.content!, revision: state.revision };
    });
    expect(places.map(({ place }) => Object.keys(place).join())).toEqual([
      ...Array.from({ length: 5 }, () => "inline,length"),
      ...Array.from({ length: 4 }, () => "blob,at,length"),
    ]);
    for (const { name, ...kept } of places)
      expect((await contentOf(at.journal, step!, kept, noPause))?.toString()).toBe(text(Number(name)));
    const [frames, pack] = at
      .keptFiles()
      .map((path) => statSync(path).size)
      .sort((one, other) => other - one);
    expect(frames).toBeLessThan(4.2 * 1024 * 1024);
    expect(pack).toBe(tree["d/5"]!.length + tree["d/6"]!.length + tree["d/7"]!.length + tree["d/8"]!.length);
    expect(at.journal.bytes).toBe(at.keptBytes());
  });

  test("a folder that cannot be removed because it is not empty is not read", async () => {
    using at = new JournalFixture(backend, manyFiles);
    expect(await reasonOf(() => at.files.remove("d", { recursive: false }, at.call()))).toBe("not-empty");
    expect(at.keptBytes()).toBeLessThan(1000);
  });

  test("a tree that goes is kept step by step, temporary files are not", async () => {
    using at = new JournalFixture(backend, {
      "d/f": "x",
      "d/l": { link: "f" },
      [`d/${temporaryName()}`]: "left over",
    });
    await at.files.remove("d", { recursive: true }, at.call());
    expect(stepsOf(at.read()[0]!)).toEqual([
      { kind: "remove", path: "d/f", before: { state: file("x") }, after: { state: absent } },
      {
        kind: "remove",
        path: "d/l",
        before: { state: { kind: "symlink", text: Buffer.from("f").toString("base64") } },
        after: { state: absent },
      },
      {
        kind: "remove",
        path: "d",
        before: { state: { kind: "dir", mode: 0o755 } },
        after: { state: absent },
      },
    ]);
  });

  test("steps keep their order, even if the clock was set back between two workers", () => {
    // Each segment has one record.
    using at = new JournalFixture(backend, {}, { max_records: 8 });
    const { now } = performance;
    performance.now = () => now.call(performance) + 3_600_000;
    at.keepStep(at.journal, "first");
    performance.now = now;
    const journal = at.openJournal({ max_records: 8 });
    for (const path of ["second", "third"]) at.keepStep(journal, path);
    journal.close();
    const steps = at.read().flatMap((record) => record.steps);
    expect(steps.toSorted((one, other) => one.at - other.at).map(({ path }) => path)).toEqual([
      "first",
      "second",
      "third",
    ]);
  });

  test("a step that failed is none of the record", async () => {
    using at = new JournalFixture(backend, { "d/f": "x" });
    expect(await reasonOf(() => at.files.remove("d", { recursive: false }, at.call()))).toBe("not-empty");
    expect(at.read().map(stepsOf)).toEqual([[]]);
  });

  test("a copied folder is one frame, and is read as a step for each entry, the folder first", async () => {
    using at = new JournalFixture(backend, { "d/e/f": "x" });
    await at.files.copy({ from: "d", to: "c", overwrite: false, parents: false }, at.call());
    expect(stepsOf(at.read()[0]!)).toEqual([
      {
        kind: "place",
        path: "c",
        before: { state: absent },
        after: { state: { kind: "dir", mode: 0o755 } },
      },
      {
        kind: "place",
        path: "c/e",
        before: { state: absent },
        after: { state: { kind: "dir", mode: 0o755 } },
      },
      { kind: "place", path: "c/e/f", before: { state: absent }, after: { state: file("x") } },
    ]);
  });
});

test("everything is private, and nothing is made before the first change", async () => {
  using at = new JournalFixture("descriptors", { f: "old" });
  expect(at.read()).toEqual([]);
  expect(readdirSync(at.dir)).toEqual([]);
  at.files.read("f", { key: "max", bytes: 10 }, () => {});
  expect(readdirSync(at.dir)).toEqual([]);
  await at.files.create("f", Buffer.alloc(3_000_000), small, at.call());
  await at.files.create("f", Buffer.from(""), small, at.call());
  for (const folder of [at.journal.state.location, at.segments, dirname(at.frames())])
    expect(statSync(folder).mode & 0o777).toBe(0o700);
  expect(at.keptFiles()).toHaveLength(2);
  for (const path of at.keptFiles()) expect(statSync(path).mode & 0o777).toBe(0o600);
});

test("what is denied leaves nothing in the journal", async () => {
  using at = new JournalFixture("descriptors", {
    "d/.env": "top-secret",
    "d/a": "plain-text",
    "secrets/x": "y",
  });
  const call = at.call();
  for (const path of ["d", "d/.env", "secrets", "secrets/x"])
    expect(await reasonOf(() => at.files.remove(path, { recursive: true }, call))).toBe("denied");
  const to = { overwrite: true, parents: true };
  expect(await reasonOf(() => at.files.move({ from: "d", to: "e", ...to }, call))).toBe("denied");
  expect(await reasonOf(() => at.files.copy({ from: "d", to: "e", ...to }, call))).toBe("denied");
  expect(await reasonOf(() => at.files.create("d/.env", Buffer.from("new"), small, call))).toBe("denied");
  await at.files.remove("d/a", { recursive: false }, call);
  const bytes = at
    .keptFiles()
    .map((path) => readFileSync(path, "latin1"))
    .join("\n");
  expect(bytes).toContain("plain-text");
  expect(bytes).not.toMatch(/top-secret|\.env|secrets/);
});

test("the oldest records go when there are too many, and when they are too large", async () => {
  using at = new JournalFixture("descriptors", {}, { max_records: 3 });
  for (const text of ["a", "b", "c", "d", "e"])
    await at.files.create("f", Buffer.from(text), small, at.call());
  expect(at.read().map(({ seq }) => seq)).toEqual([5, 4, 3]);
  using few = new JournalFixture("descriptors", { f: "x".repeat(3000) }, { max_bytes: 10_000 });
  for (let round = 0; round < 6; round++)
    await few.files.create("f", Buffer.alloc(3000, round), small, few.call());
  expect(few.read().map(({ seq }) => seq)).toEqual([6, 5]);
  expect(few.keptBytes()).toBeLessThanOrEqual(10_000);
});

test("contents apart go with their record", async () => {
  const max_bytes = 5_000_000;
  using at = new JournalFixture("descriptors", { f: "" }, { max_bytes });
  for (let round = 0; round < 4; round++)
    await at.files.create("f", Buffer.alloc(2_000_000, round), small, at.call());
  expect(at.keptFiles().filter((path) => basename(path) === "frames")).toEqual([at.frames(3), at.frames(4)]);
  expect(at.keptFiles()).toHaveLength(4);
});

test("what is larger than the journal is unavailable, and says so", async () => {
  using at = new JournalFixture("descriptors", { "d/f": "x".repeat(3000), "d/g": "y" }, { max_bytes: 2000 });
  const call = at.call();
  await at.files.remove("d", { recursive: true }, call);
  const [record] = at.read();
  expect(stepsOf(record!).slice(0, 2)).toMatchObject([
    { path: "d/f", unavailable: "too-large" },
    { path: "d/g", before: { state: file("y") } },
  ]);
  expect(at.journal.lossesOf(call)).toBe(1);
  expect(at.journal.lossesOf(at.call())).toBe(0);
});

test("a file over 32 MiB that another program may be writing to is kept only if it moves, by its identity", async () => {
  using at = new JournalFixture("descriptors", {}, { max_bytes: 128 * 1024 * 1024 });
  const size = 33 * 1024 * 1024;
  for (const path of ["moved", "removed"]) writeFileSync(at.bench.at(path), Buffer.alloc(size, path));
  const change = async () => {
    const call = at.call();
    await at.files.move({ from: "moved", to: "new", overwrite: false, parents: true }, call);
    await at.files.remove("removed", { recursive: false }, call);
    return { lost: at.journal.lossesOf(call), steps: stepsOf(at.read()[0]!) };
  };
  const writers = ["moved", "removed"].map((path) => openSync(at.bench.at(path), "r+"));
  const identity = entryIdentityOf(statSync(at.bench.at("moved"), { bigint: true }));
  expect(await change()).toMatchObject({
    lost: 1,
    steps: [
      { kind: "rename", after: { state: { kind: "file", mode: 0o644, revision: "", identity } } },
      { kind: "remove", unavailable: "too-large" },
    ],
  });
  for (const writer of writers) closeSync(writer);
  const content = Buffer.alloc(size, "moved");
  writeFileSync(at.bench.at("moved"), content);
  writeFileSync(at.bench.at("removed"), content);
  rmSync(at.bench.at("new"));
  const kept = { state: { kind: "file", mode: 0o644, revision: revisionOfBytes([content]) } };
  expect(await change()).toMatchObject({
    lost: 0,
    steps: [
      { kind: "rename", after: kept },
      { kind: "remove", before: kept },
    ],
  });
});

test("special files and names that are no text are unavailable", async () => {
  using at = new JournalFixture("descriptors", { pipe: { fifo: true }, "d/\udcff": "x" });
  await at.files.remove("pipe", { recursive: false }, at.call());
  await at.files.remove("d", { recursive: true }, at.call());
  const [folder, pipe] = at.read();
  expect(stepsOf(pipe!)).toEqual([{ kind: "remove", path: "pipe", unavailable: "special-file" }]);
  expect(stepsOf(folder!)[0]).toEqual({ kind: "remove", path: "d/\ufffd", unavailable: "name" });
});

test.each(backends)(
  "names with U+FFFD are told from those that are not UTF-8 by their bytes: %s",
  async (backend) => {
    using at = new JournalFixture(backend, {
      "a\ufffd": "a",
      "a\udcff": "other",
      "\ufffd/b": "b",
      "\udcff/b": "other",
      "d/\ufffd/c": "c",
    });
    const to = { overwrite: false, parents: true };
    await at.files.remove("a\ufffd", { recursive: false }, at.call());
    await at.files.move({ from: "\ufffd/b", to: "\ufffd/c", ...to }, at.call());
    await at.files.remove("\ufffd", { recursive: true }, at.call());
    await at.files.remove("d", { recursive: true }, at.call());
    const records = at.read();
    const losses = records.flatMap(({ steps }) => steps.map(({ unavailable }) => unavailable));
    expect(losses).toEqual(losses.map(() => undefined));
    expect((await at.undo({ records })).conflicts).toEqual([]);
    expect(
      ["a\ufffd", "\ufffd/b", "d/\ufffd/c"].map((path) => readFileSync(at.bench.at(path), "utf8")),
    ).toEqual(["a", "b", "c"]);
  },
);

test("a change of mode of a name that is not UTF-8 is unavailable", async () => {
  using at = new JournalFixture("descriptors", { "d/\udcff/e": "x", "d/\ufffd": "y" });
  const mode = { mode: 0o700, uid: undefined, gid: undefined, recursive: true };
  await at.files.changeMode("d", mode, at.call());
  const lost = at.read()[0]!.steps.map(({ path, unavailable }) => [path, unavailable]);
  expect(lost).toEqual([
    ["d/\ufffd", undefined],
    ["d/\ufffd/e", "name"],
    ["d/\ufffd", "name"],
    ["d", undefined],
  ]);
});

/** Makes the journal fail to write until it is disposed of. */
function breakJournal(at: JournalFixture): Disposable {
  at.journal.state.path("segments");
  rmSync(at.segments, { recursive: true, force: true });
  writeFileSync(at.segments, "in the way");
  return { [Symbol.dispose]: () => rmSync(at.segments) };
}

test("a journal that cannot be written fails no call, and the log counts what is lost", async () => {
  using at = new JournalFixture("descriptors");
  const create = async (path: string) => {
    const call = at.call();
    await at.files.create(path, Buffer.from("a"), small, call);
    return { checkpoint: at.journal.checkpointOf(call), lost: at.journal.lossesOf(call) };
  };
  expect(await create("f")).toEqual({ checkpoint: 1, lost: 0 });
  expect(at.journal.failure).toBeUndefined();
  {
    using _ = breakJournal(at);
    expect(await create("f")).toEqual({ checkpoint: undefined, lost: 1 });
    expect(at.journal.failure).toBe("ENOTDIR");
    // Folders above a new file are changes too.
    expect(await create("d/g")).toEqual({ checkpoint: undefined, lost: 2 });
    expect(at.logLines).toHaveLength(1);
    expect(at.logLines[0]).toMatch(/warn {2}the journal cannot be written reason=ENOTDIR folder=/);
  }
  expect(await create("f")).toMatchObject({ lost: 0 });
  expect(at.journal.failure).toBeUndefined();
  expect(at.logLines[1]).toMatch(/warn {2}the journal can be written again lost_changes=3\n/);
  using _ = breakJournal(at);
  await create("h");
  at.journal.close();
  expect(at.logLines[3]).toMatch(/warn {2}changes were not recorded lost_changes=1\n/);
  expect(at.logLines).toHaveLength(4);
});

test("a state folder that was removed is made again, and no number is given twice", async () => {
  using at = new JournalFixture("descriptors");
  for (const seq of [1, 2, 3]) {
    const call = at.call();
    await at.files.create("f", Buffer.from(`${seq}`), small, call);
    expect([at.journal.checkpointOf(call), at.journal.lossesOf(call)]).toEqual([seq, 0]);
    rmSync(at.dir, { recursive: true });
  }
  at.journal.state.path("segments");
  expect(at.logLines).toEqual([]);
});

test("a change that failed after all is not lost, alone and in a transaction", async () => {
  using at = new JournalFixture("descriptors", { "d/f": "x" });
  using _ = breakJournal(at);
  const call = at.call();
  expect(await reasonOf(() => at.files.remove("d", { recursive: false }, call))).toBe("not-empty");
  expect(at.journal.lossesOf(call)).toBe(0);
  const step = { path: "d/f", entry: "file", isTree: false, requester: call } as const;
  const revisions = { revisionBefore: () => undefined, revisionAfter: () => undefined };
  const whole = { ...step, ...revisions, kind: "transaction", isTree: true } as const;
  const removal = { ...step, ...revisions, kind: "remove", whole } as const;
  at.journal.before(removal);
  at.journal.after(removal, "done");
  expect(at.journal.lossesOf(call)).toBe(1);
  at.journal.after(whole, "failed");
  expect(at.journal.lossesOf(call)).toBe(0);
});

test("a folder that is removed as a whole is lost once", async () => {
  using at = new JournalFixture("descriptors", { "d/f": "x" });
  using _ = breakJournal(at);
  using folder = at.bench.jailed.reopenFolder("");
  const entries = entriesAt({ folder, name: "gone", aside: "d" });
  for (const kind of ["transaction", "rename"] as const) {
    const call = at.call();
    await at.journal.readRemoved(entries, call);
    at.journal.before(removal(call, { kind, entries }));
    await at.journal.readAside(entries);
    expect([kind, at.journal.lossesOf(call)]).toEqual([kind, 1]);
  }
});

test("a folder that was opened to others is not written to", async () => {
  using at = new JournalFixture("descriptors");
  const { location } = at.journal.state;
  at.journal.state.path("segments", "x");
  chmodSync(location, 0o755);
  const other = at.openJournal.bind(at);
  expect(() => other()).toThrow(/open to other users/);
  chmodSync(location, 0o700);
});

test("one call keeps to the bounds too, and what is left out is lost", async () => {
  const names = Array.from({ length: 60 }, (_, index) => `f${String(index).padStart(2, "0")}`);
  const tree = Object.fromEntries(names.map((name) => [`d/${name}`, "x".repeat(300)]));
  using at = new JournalFixture("descriptors", tree, { max_bytes: 10_000 });
  const call = at.call();
  await at.files.remove("d", { recursive: true }, call);
  expect(at.keptBytes()).toBeLessThanOrEqual(10_000);
  const [record, ...others] = at.read();
  expect(others).toEqual([]);
  const kept = record!.steps.filter(({ unavailable }) => unavailable === undefined);
  expect(kept.map(({ path }) => path)).toEqual(names.slice(0, kept.length).map((name) => `d/${name}`));
  expect(record!.steps.at(-1)!.unavailable).toBe("too-large");
  expect(at.journal.lossesOf(call)).toBe(61 - kept.length);
  await at.files.create("g", Buffer.from("new"), small, at.call());
  expect(at.read()[0]!.steps[0]!.path).toBe("g");
  expect(at.logLines).toEqual([]);
});

test("a rename to the own name of an entry is no step", async () => {
  using at = new JournalFixture("descriptors", { "d/f": "1" });
  await at.files.rename({ from: "d", to: "d", overwrite: true }, at.call());
  expect(at.read().flatMap(({ steps }) => steps)).toEqual([]);
  expect(at.bench.snapshot().has("d/f")).toBe(true);
});
