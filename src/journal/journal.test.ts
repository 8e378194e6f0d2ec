import { describe, expect, test } from "bun:test";
import {
  appendFileSync,
  chmodSync,
  existsSync,
  readdirSync,
  readFileSync,
  rmSync,
  statSync,
  truncateSync,
  writeFileSync,
} from "node:fs";
import { join } from "node:path";
import { reasonOf } from "../files/files.test-kit.ts";
import { revisionOfBytes } from "../files/revision.ts";
import { backends } from "../jail/jail.test-kit.ts";
import { temporaryName } from "../jail/temporary.ts";
import { JournalFixture } from "./journal.test-kit.ts";
import { contentOf, type JournalRecord } from "./read-record.ts";

const small = { mode: 0o640, overwrite: true, parents: true };
const revision = (text: string) => revisionOfBytes([Buffer.from(text)]);
const file = (text: string, mode = 0o644) => ({ kind: "file" as const, mode, revision: revision(text) });
const absent = { kind: "absent" as const };

/** The steps of a record, without what differs between two runs. */
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
    expect(contentOf(at.journal, step, { place: place!, revision: revision("old") })?.toString()).toBe("old");
    expect(at.logLines).toEqual([]);
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

  test("a step that failed is none of the record", async () => {
    using at = new JournalFixture(backend, { "d/f": "x" });
    expect(await reasonOf(() => at.files.remove("d", { recursive: false }, at.call()))).toBe("not-empty");
    expect(at.read().map(stepsOf)).toEqual([[]]);
  });

  test("a copied folder is one step, with all that is in it", async () => {
    using at = new JournalFixture(backend, { "d/e/f": "x" });
    await at.files.copy({ from: "d", to: "c", overwrite: false, parents: false }, at.call());
    expect(stepsOf(at.read()[0]!)).toEqual([
      {
        kind: "place",
        path: "c",
        before: { state: absent },
        after: {
          state: { kind: "dir", mode: 0o755 },
          inside: [
            ["e", { kind: "dir", mode: 0o755 }],
            ["e/f", file("x")],
          ],
        },
      },
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
  expect(statSync(at.records).mode & 0o777).toBe(0o700);
  const names = readdirSync(at.records).sort();
  expect(names).toEqual(["000000000001", "000000000002", "000000000002-1"]);
  for (const name of names) expect(statSync(join(at.records, name)).mode & 0o777).toBe(0o600);
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
  const bytes = readdirSync(at.records)
    .map((name) => readFileSync(join(at.records, name), "latin1"))
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
  const bytes = readdirSync(few.records).map((name) => statSync(join(few.records, name)).size);
  expect(bytes.reduce((sum, one) => sum + one, 0)).toBeLessThanOrEqual(10_000);
});

test("contents apart go with their record", async () => {
  const max_bytes = 5_000_000;
  using at = new JournalFixture("descriptors", { f: "" }, { max_bytes });
  for (let round = 0; round < 4; round++)
    await at.files.create("f", Buffer.alloc(2_000_000, round), small, at.call());
  expect(readdirSync(at.records).sort()).toEqual([
    "000000000003",
    "000000000003-1",
    "000000000004",
    "000000000004-1",
  ]);
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

test("special files and names that are no text are unavailable", async () => {
  using at = new JournalFixture("descriptors", { pipe: { fifo: true }, "d/\udcff": "x" });
  await at.files.remove("pipe", { recursive: false }, at.call());
  await at.files.remove("d", { recursive: true }, at.call());
  const [folder, pipe] = at.read();
  expect(stepsOf(pipe!)).toEqual([{ kind: "remove", path: "pipe", unavailable: "special-file" }]);
  expect(stepsOf(folder!)[0]).toEqual({ kind: "remove", path: "d/\ufffd", unavailable: "name" });
});

test("a journal that cannot be written fails no call, and says so once", async () => {
  using at = new JournalFixture("descriptors");
  await at.files.create("f", Buffer.from("a"), small, at.call());
  rmSync(at.records, { recursive: true });
  writeFileSync(at.records, "in the way");
  const call = at.call();
  at.journal.close();
  await at.files.create("f", Buffer.from("b"), small, call);
  await at.files.create("f", Buffer.from("c"), small, at.call());
  expect(at.bench.text("f")).toBe("c");
  expect(at.journal.lossesOf(call)).toBe(1);
  expect(at.logLines).toHaveLength(1);
  expect(at.logLines[0]).toMatch(/warn {2}the journal cannot be written reason=ENOTDIR folder=/);
  rmSync(at.records);
  await at.files.create("f", Buffer.from("d"), small, at.call());
  expect(at.bench.text("f")).toBe("d");
});

test("a folder that was opened to others is not written to", async () => {
  using at = new JournalFixture("descriptors");
  const { location } = at.journal.state;
  at.journal.state.path("records", "x");
  chmodSync(location, 0o755);
  const other = at.openJournal.bind(at);
  expect(() => other()).toThrow(/open to other users/);
  chmodSync(location, 0o700);
});

test("two workers share a folder, and each record is one worker's", async () => {
  using at = new JournalFixture("descriptors", {}, { max_records: 4 });
  const other = at.openJournal({ max_records: 4 });
  for (let round = 0; round < 5; round++) {
    await at.files.create("f", Buffer.from(`a${round}`), small, at.call());
    const step = { kind: "make-folder", path: `d${round}`, entry: "dir", isTree: false } as const;
    const mutation = { ...step, requester: at.call("other::call"), revisionBefore: () => undefined };
    other.before({ ...mutation, revisionAfter: () => undefined, entries: { replaced: () => undefined } });
  }
  other.close();
  const records = at.read();
  expect(new Set(records.map(({ seq }) => seq)).size).toBe(records.length);
  expect(records.map(({ function_id }) => function_id).slice(0, 2)).toEqual(["other::call", "test::call"]);
  expect(at.logLines).toEqual([]);
});

test("what is cut off anywhere is ignored and said", async () => {
  using at = new JournalFixture("descriptors", { a: "one", b: "two", c: "three" });
  const call = at.call();
  for (const path of ["a", "b", "c"]) await at.files.remove(path, { recursive: false }, call);
  const path = join(at.records, "000000000001");
  const whole = readFileSync(path);
  const counts = new Set<number>();
  for (let length = whole.length; length >= 0; length--) {
    truncateSync(path, length);
    const [record] = at.read();
    counts.add(record?.steps.length ?? -1);
    for (const step of record?.steps ?? []) {
      const { state } = step.before;
      if (state.kind !== "file") throw new Error("a state is torn");
      expect(contentOf(at.journal, step, { place: state.content!, revision: state.revision })).toBeDefined();
    }
  }
  expect([...counts]).toEqual([3, 2, 1, 0, -1]);
  expect(at.logLines.length).toBeGreaterThan(100);
  expect(at.logLines[0]).toMatch(/torn journal record seq=1 ignored_bytes=\d+/);
});

test("what is damaged is ignored from there on", async () => {
  using at = new JournalFixture("descriptors", { a: "one", b: "two" });
  const call = at.call();
  for (const path of ["a", "b"]) await at.files.remove(path, { recursive: false }, call);
  const path = join(at.records, "000000000001");
  const whole = readFileSync(path);
  appendFileSync(path, "garbage");
  expect(at.read()[0]?.steps).toHaveLength(2);
  writeFileSync(path, Buffer.from(whole.toString("latin1").replace('"path":"b"', '"path":"c"'), "latin1"));
  expect(at.read()[0]?.steps).toHaveLength(1);
  writeFileSync(path, Buffer.from(whole.toString("latin1").replace("one", "eno"), "latin1"));
  const [step] = at.read()[0]!.steps;
  const { state } = step!.before;
  const kept = state.kind === "file" && { place: state.content!, revision: state.revision };
  expect(
    contentOf(at.journal, step!, kept || { place: { inline: 0, length: 0 }, revision: "" }),
  ).toBeUndefined();
  expect(existsSync(path)).toBe(true);
});
