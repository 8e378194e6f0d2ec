/** Segments that several workers share, and what is torn or damaged in them. */
import { expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  existsSync,
  readFileSync,
  statSync,
  truncateSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import fc from "fast-check";
import { type ContentLocation, encodeFrame, type JournalFrame } from "./frame.ts";
import { JournalFixture, loopIterationsDuring } from "./journal.test-kit.ts";
import { contentOf } from "./read-record.ts";
import { readHeader } from "./segment.ts";
import { listSegments, openFrames } from "./segment-folder.ts";

const small = { mode: 0o640, overwrite: true, parents: true };

const noPause = async () => {};

test("workers that share a folder lose no record, and number them as they were written", () => {
  const run = (turns: readonly number[], bounds: { max_records: number; max_bytes: number }) => {
    using at = new JournalFixture("descriptors");
    const workers = [0, 1, 2].map(() => at.openJournal(bounds));
    const written = turns.map((worker, index) => {
      at.keepStep(workers[worker]!, `d${index}`);
      return `d${index}`;
    });
    const records = at.read();
    expect(records.map(({ steps }) => steps[0]!.path).reverse()).toEqual(written.slice(-records.length));
    const last = records[0]?.seq ?? 0;
    expect(records.map(({ seq }) => seq)).toEqual(records.map((_, index) => last - index));
    // An eighth goes at once.
    expect(records.length).toBeGreaterThanOrEqual(Math.min(turns.length, (bounds.max_records * 7) / 8 - 1));
    expect(records.length).toBeLessThanOrEqual(bounds.max_records);
    expect(at.logLines).toEqual([]);
    for (const worker of workers) worker.close();
  };
  const turns = fc.array(fc.nat(2), { maxLength: 120 });
  const bounds = fc.record({ max_records: fc.integer({ min: 1, max: 100 }), max_bytes: fc.constant(1e6) });
  fc.assert(fc.property(turns, bounds, run), { numRuns: 20 });
});

test("what others have written is read in slices before the next step", async () => {
  using at = new JournalFixture("descriptors");
  const [first, second, third] = [0, 1, 2].map(() => at.openJournal());
  const call = at.call();
  for (let step = 0; step < 500; step++) at.keepStep(first!, `d${step}`, call);
  expect(first!.catchUp()).toBeUndefined();
  expect(await loopIterationsDuring(async () => second!.catchUp())).toBeGreaterThan(50);
  expect(second!.catchUp()).toBeUndefined();
  for (let step = 500; step < 1000; step++) at.keepStep(first!, `d${step}`, call);
  // A step of a call that came before does not wait.
  const reading = second!.catchUp();
  at.keepStep(second!, "e");
  await reading;
  const opening = third!.catchUp();
  at.keepStep(third!, "f");
  await opening;
  expect([second!.catchUp(), third!.catchUp()]).toEqual([undefined, undefined]);
  at.keepStep(second!, "g");
  at.keepStep(third!, "h");
  expect(at.read().map(({ seq, steps }) => [seq, steps.length, steps[0]!.path])).toEqual([
    [5, 1, "h"],
    [4, 1, "g"],
    [3, 1, "f"],
    [2, 1, "e"],
    [1, 1000, "d0"],
  ]);
  expect(at.logLines).toEqual([]);
  expect(third!.bytes).toBe(at.keptBytes());
  for (const journal of [first!, second!, third!]) journal.close();
});

test("workers that share a small folder keep to its bytes", () => {
  using at = new JournalFixture("descriptors");
  const workers = [0, 1].map(() => at.openJournal({ max_records: 1000, max_bytes: 20_000 }));
  for (let round = 0; round < 200; round++) at.keepStep(workers[round % 2]!, `d${round}`);
  expect(at.keptBytes()).toBeLessThanOrEqual(20_000);
  expect(at.read()[0]?.steps[0]?.path).toBe("d199");
  for (const worker of workers) worker.close();
});

const numbersIn = (at: JournalFixture): number[] =>
  at
    .read()
    .map(({ seq }) => seq)
    .reverse();

test("under a lower maximum of bytes the oldest records go, and recording continues", async () => {
  using at = new JournalFixture("descriptors", { f: Buffer.alloc(3_000_000) });
  await at.files.remove("f", { recursive: false }, at.call());
  const fewer = at.openJournal({ max_bytes: 4096 });
  const call = at.call();
  at.keepStep(fewer, "a", call);
  expect([fewer.checkpointOf(call), fewer.lossesOf(call)]).toEqual([2, 0]);
  expect(numbersIn(at)).toEqual([2]);
  expect(at.keptBytes()).toBeLessThanOrEqual(4096);
  at.keepStep(fewer, "b");
  expect(numbersIn(at)).toEqual([2, 3]);
  expect(at.logLines).toHaveLength(1);
  expect(at.logLines[0]).toMatch(
    /info {2}old checkpoints were dropped dropped=1 max_bytes=4096 max_records=/,
  );
  fewer.close();
});

test("under a lower maximum of records the oldest go, and those that still fit stay", () => {
  using at = new JournalFixture("descriptors");
  for (let step = 0; step < 6; step++) at.keepStep(at.journal, `a${step}`);
  const some = at.openJournal({ max_records: 9 });
  for (let step = 0; step < 3; step++) at.keepStep(some, `b${step}`);
  expect(numbersIn(at)).toEqual([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  some.close();
  expect(at.logLines).toEqual([]);
  const fewer = at.openJournal({ max_records: 3 });
  for (let step = 0; step < 3; step++) at.keepStep(fewer, `c${step}`);
  expect(numbersIn(at)).toEqual([10, 11, 12]);
  expect(at.logLines).toHaveLength(1);
  expect(at.logLines[0]).toMatch(/info {2}old checkpoints were dropped dropped=6 /);
  fewer.close();
});

test("workers with different limits lose no record within the lower ones, and give no number twice", () => {
  const run = (turns: readonly number[]) => {
    using at = new JournalFixture("descriptors");
    const workers = [100, 20, 5].map((max_records) => at.openJournal({ max_records }));
    const written = turns.map((worker, index) => {
      const call = at.call();
      at.keepStep(workers[worker]!, `d${index}`, call);
      return workers[worker]!.checkpointOf(call);
    });
    expect(written).toEqual(turns.map((_, index) => index + 1));
    const numbers = numbersIn(at);
    if (turns.at(-1) === 2) expect(numbers.length).toBeLessThanOrEqual(5);
    expect(numbers).toEqual(written.slice(-numbers.length) as number[]);
    for (const worker of workers) worker.close();
  };
  fc.assert(fc.property(fc.array(fc.nat(2), { minLength: 1, maxLength: 60 }), run), { numRuns: 20 });
});

test("records go on behind a torn frame, in a new worker and in one that was there", async () => {
  using at = new JournalFixture("descriptors", { a: "one", b: "two", c: "three" });
  const [call, other] = [at.call(), at.openJournal()];
  await at.files.remove("a", { recursive: false }, call);
  const torn = readFileSync(at.frames()).subarray(150, -5);
  appendFileSync(at.frames(), torn);
  await at.files.remove("b", { recursive: false }, call);
  appendFileSync(at.frames(), torn);
  at.keepStep(other, "d");
  other.close();
  const [second, first] = at.read();
  expect(first!.steps.map(({ path }) => path)).toEqual(["a", "b"]);
  expect(second).toMatchObject({ seq: 2, steps: [{ path: "d" }] });
  for (let read = 0; read < 3; read++) at.read();
  expect(at.logLines).toHaveLength(1);
  expect(at.logLines[0]).toMatch(/torn journal segment=1 ignored_bytes=\d+/);
});

test("what looks like a frame in a content is none", async () => {
  using at = new JournalFixture("descriptors", { a: "one" });
  await at.files.remove("a", { recursive: false }, at.call());
  const frames = readFileSync(at.frames());
  const header = frames.indexOf("\n") + 1;
  const key = frames.subarray(header, header + 16).toString();
  const forged = frames.toString("latin1").slice(header).replaceAll(key, "0123456789abcdef");
  await at.files.create("b", Buffer.from(forged, "latin1"), small, at.call());
  await at.files.remove("b", { recursive: false }, at.call());
  truncateSync(at.frames(), statSync(at.frames()).size - 1);
  expect(at.read().map(({ seq, steps }) => [seq, steps.length])).toEqual([
    [3, 0],
    [2, 1],
    [1, 1],
  ]);
  expect(at.logLines).toHaveLength(1);
});

test("a segment without its header is left alone, and others follow", async () => {
  using at = new JournalFixture("descriptors");
  at.keepStep(at.journal, "d");
  at.journal.close();
  truncateSync(at.frames(), 10);
  const other = at.openJournal();
  at.keepStep(other, "e");
  other.close();
  expect(at.read().map(({ seq, steps }) => [seq, steps[0]!.path])).toEqual([[65, "e"]]);
  expect(at.logLines[0]).toMatch(/torn journal segment=1 ignored_bytes=10/);
});

test("what is cut off anywhere is ignored and said", async () => {
  using at = new JournalFixture("descriptors", { a: "one", b: "two", c: "three" });
  const call = at.call();
  for (const path of ["a", "b", "c"]) await at.files.remove(path, { recursive: false }, call);
  const path = at.frames();
  const whole = readFileSync(path);
  const counts = new Set<number>();
  for (let length = whole.length; length >= 0; length--) {
    truncateSync(path, length);
    const [record] = at.read();
    counts.add(record?.steps.length ?? -1);
    for (const step of record?.steps ?? []) {
      const { state } = step.before;
      if (state.kind !== "file") throw new Error("a state is torn");
      const kept = { place: state.content!, revision: state.revision };
      expect(await contentOf(at.journal, step, kept, noPause)).toBeDefined();
    }
  }
  expect([...counts]).toEqual([3, 2, 1, 0, -1]);
  expect(at.logLines.length).toBeGreaterThan(100);
  expect(at.logLines[0]).toMatch(/torn journal segment=1 ignored_bytes=\d+/);
});

test("what is damaged is ignored, and nothing else", async () => {
  using at = new JournalFixture("descriptors", { a: "one", b: "two" });
  const call = at.call();
  for (const path of ["a", "b"]) await at.files.remove(path, { recursive: false }, call);
  const path = at.frames();
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
    await contentOf(at.journal, step!, kept || { place: { inline: 0, length: 0 }, revision: "" }, noPause),
  ).toBeUndefined();
  const forged = [
    { inline: "0", length: 1 },
    { inline: -1e6, length: 1 },
    { inline: 0, length: 0.5 },
    { blob: 0, at: -1, length: 1 },
    { blob: 0, at: {}, length: 1 },
  ] as unknown as ContentLocation[];
  for (const place of forged)
    expect(await contentOf(at.journal, step!, { place, revision: "" }, noPause)).toBeUndefined();
  expect(existsSync(path)).toBe(true);
});

test("a record whose head or step is of other types keeps no other from being read", () => {
  using at = new JournalFixture("descriptors");
  const journal = at.openJournal({ max_records: 100, max_bytes: 1e6 });
  at.keepStep(journal, "a");
  const [segment] = listSegments(journal.state);
  const descriptor = openFrames(journal.state, segment!, { appending: true });
  const { key } = readHeader(descriptor)!.header;
  const head = { version: 2, ts: 1 };
  const absent = { state: { kind: "absent" } };
  const step = { at: 1, kind: "place", path: "b", before: absent, after: absent };
  const bad = [
    [{ ...head, ts: "now" }],
    [{ ...head, ts: 9e15 }],
    [{ ...head, label: { length: 1 } }],
    [head, { ...step, path: 1 }],
    [head, { ...step, from: [] }],
    [head, { ...step, before: undefined }],
    [head, { ...step, after: { state: null } }],
    [head, { ...step, before: null }],
    [head, { ...step, after: { ...absent, inside: "x" } }],
    [head, { ...step, after: { ...absent, inside: [null] } }],
    [head, { ...step, after: { ...absent, inside: [["x", null]] } }],
  ];
  for (const [index, frames] of bad.entries())
    for (const frame of frames)
      for (const piece of encodeFrame(key, { record: `bad${index}`, ...frame } as unknown as JournalFrame)
        .pieces)
        writeSync(descriptor, piece);
  closeSync(descriptor);
  at.keepStep(journal, "c");
  expect(at.read().flatMap(({ steps }) => steps.map(({ path }) => path))).toEqual(["c", "a"]);
  journal.close();
});
