/**
 * Tests windows of a file whose lines were counted before: each is the slice of the current content, even
 * after changes by other programs.
 */
import { afterAll, expect, test } from "bun:test";
import {
  appendFileSync,
  closeSync,
  copyFileSync,
  mkdtempSync,
  openSync,
  readFileSync,
  renameSync,
  rmSync,
  statSync,
  truncateSync,
  utimesSync,
  writeFileSync,
  writeSync,
} from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import fc from "fast-check";
import { deadlineIn } from "../../base/scheduling/deadline.ts";
import { LineCounts } from "../../filesystem/files/line-counts.ts";
import { type OpenFile, openPlace, pieceBytes } from "../../filesystem/files/open-file.ts";
import { awaitTick } from "../../filesystem/jail/clock.test-kit.ts";
import { rangeOf, tailOf } from "../../text/edits/window.ts";
import { readPart, type Wanted } from "./part.ts";

const folder = mkdtempSync(join(tmpdir(), "coder-"));
const path = join(folder, "log");
const other = join(folder, "other");
afterAll(() => rmSync(folder, { recursive: true }));

/** Makes recent stamps count as settled. `awaitTick` ensures that the next change produces different ones. */
const isOld = { now: () => Date.now() + 10_000 };

interface Change {
  /** The name of the change in the report of a failure. */
  readonly name: string;
  readonly make: () => void;
}

const place = fc.double({ min: 0, max: 1, noNaN: true });
const line = fc.constantFrom("\n", "a\n", "\r\n", `${"long ".repeat(900)}\n`, "b");
const lines = fc
  .array(fc.tuple(line, fc.integer({ min: 1, max: 80_000 })), { minLength: 1, maxLength: 6 })
  .map((runs) =>
    Buffer.from(runs.map(([text, bytes]) => text.repeat(Math.ceil(bytes / text.length))).join("")),
  );

const at = (share: number) => Math.floor(share * Math.max(0, statSync(path).size - 1));

const changesInPlace: fc.Arbitrary<Change> = fc.oneof(
  lines.map((more) => ({ name: "append", make: () => appendFileSync(path, more) })),
  place.map((share) => ({ name: "truncate", make: () => truncateSync(path, at(share)) })),
  place.map((share) => ({
    name: "write a line feed in the place of a byte, and set the times back",
    make() {
      const { atime, mtime } = statSync(path);
      const descriptor = openSync(path, "r+");
      writeSync(descriptor, "\n", at(share));
      closeSync(descriptor);
      utimesSync(path, atime, mtime);
    },
  })),
  place.map((share) => ({
    name: "store through a mapping",
    make() {
      if (statSync(path).size > 0) Bun.mmap(path, { shared: true })[at(share)] = 0x0a;
      Bun.gc(true);
    },
  })),
);

const changes: fc.Arbitrary<Change> = fc.oneof(
  { weight: 4, arbitrary: changesInPlace },
  lines.map((content) => ({
    name: "rename another file over it",
    make() {
      writeFileSync(other, content);
      renameSync(other, path);
    },
  })),
  fc.constant({
    name: "rename a copy of it over it",
    make() {
      copyFileSync(path, other);
      renameSync(other, path);
    },
  }),
);

type PartOf = (total: number) => Wanted["part"];

const ranges = fc.tuple(place, fc.integer({ min: 0, max: 3000 })).map(
  ([share, more]): PartOf =>
    (total) => {
      const from = 1 + Math.floor(share * (total + 1));
      return { from, to: from + more };
    },
);
const tails = fc.integer({ min: 1, max: 3000 }).map(
  (tail): PartOf =>
    () => ({ tail }),
);
const parts = fc.oneof({ weight: 2, arbitrary: ranges }, tails);

/**
 * Replaces the file instead of writing to it, because a file that is still mapped counts as being written.
 */
function make(content: string | Buffer): void {
  rmSync(path, { force: true });
  writeFileSync(path, content);
}

/**
 * Opens the file. `beforePieces` is called once, when the file is read from its beginning or from a known
 * place.
 */
function open(beforePieces: () => void = () => {}): { file: OpenFile; starts: number[] } {
  const stats = statSync(path);
  const file = openPlace({ requested: "log", stats, open: () => openSync(path, "r") }, undefined);
  const starts: number[] = [];
  const pieces = (start = 0) => {
    if (starts.push(start) === 1) beforePieces();
    return file.pieces(start);
  };
  return { file: { ...file, pieces }, starts };
}

const usual = { path: "log", isNumbered: true, limit: { key: "max_read_bytes", bytes: 2 ** 30 } };

async function read(part: Wanted["part"], lineCounts: LineCounts, beforePieces?: () => void) {
  const { file, starts } = open(beforePieces);
  const means = { deadline: deadlineIn(Number.POSITIVE_INFINITY), lineCounts };
  return { window: await readPart(file, { ...usual, part }, means), starts };
}

/**
 * Compares a window with the slice of the file's current bytes. A total that was not counted is not compared.
 */
function expectSlice(window: Awaited<ReturnType<typeof readPart>>, part: Wanted["part"]): void {
  const bytes = readFileSync(path);
  const slice = "tail" in part ? tailOf(bytes, part.tail) : rangeOf(bytes, part);
  const isCounted = "tail" in part || !slice.hasMore;
  expect({ ...window, content: window.content.equals(slice.content) }).toEqual({
    ...slice,
    content: true,
    total: isCounted ? slice.total : window.total,
  });
}

const totalNow = () => rangeOf(readFileSync(path), { from: 1, to: 1 }).total!;

test("after any changes", async () => {
  await fc.assert(
    fc.asyncProperty(
      lines,
      fc.array(fc.tuple(fc.array(parts, { minLength: 1, maxLength: 3 }), changes), { maxLength: 5 }),
      async (content, steps) => {
        const lineCounts = new LineCounts(isOld);
        make(content);
        for (const [windows, change] of steps) {
          for (const partOf of windows) {
            const part = partOf(totalNow());
            expectSlice((await read(part, lineCounts)).window, part);
          }
          awaitTick(folder);
          change.make();
        }
      },
    ),
    { numRuns: 25 },
  );
});

test("after a change between what is known of it and the read", async () => {
  await fc.assert(
    fc.asyncProperty(lines, changesInPlace, ranges, async (content, change, rangeOfTotal) => {
      make(Buffer.concat([Buffer.alloc(2 * pieceBytes, "some line\n"), content]));
      const lineCounts = new LineCounts(isOld);
      await read({ from: 10 ** 9, to: 10 ** 9 }, lineCounts);
      const part = rangeOfTotal(totalNow());
      awaitTick(folder);
      const { window, starts } = await read(part, lineCounts, change.make);
      expectSlice(window, part);
      expect(starts.length).toBe(starts[0] === 0 ? 1 : 2);
    }),
    { numRuns: 25 },
  );
});

test("what was counted is not read again while nothing has changed", async () => {
  make("0123456789abcde\n".repeat((8 * pieceBytes) / 16));
  const lineCounts = new LineCounts(isOld);
  const perPiece = pieceBytes / 16;
  const starts = async (part: Wanted["part"]) => (await read(part, lineCounts)).starts;
  const window = (from: number) => ({ from, to: from });
  expect(await starts(window(4 * perPiece + 5))).toEqual([0]);
  expect(await starts(window(4 * perPiece + 5))).toEqual([4 * pieceBytes]);
  expect(await starts(window(4 * perPiece + 1))).toEqual([3 * pieceBytes]);
  expect(await starts(window(1))).toEqual([0]);
  expect(await starts(window(7 * perPiece + 5))).toEqual([4 * pieceBytes]);
  expect(await starts({ tail: 3 })).toEqual([7 * pieceBytes]);
  expect(await starts(window(10 ** 9))).toEqual([7 * pieceBytes]);
});

test("a call that runs out of time leaves what it has counted to the next", async () => {
  make("0123456789abcde\n".repeat((8 * pieceBytes) / 16));
  const lineCounts = new LineCounts(isOld);
  const { file } = open();
  let checks = 0;
  const deadline = {
    ...deadlineIn(Number.POSITIVE_INFINITY),
    check() {
      if (++checks === 6) throw new Error("time is up");
    },
  };
  const wanted = { ...usual, part: { from: 10 ** 9, to: 10 ** 9 } };
  await expect(readPart(file, wanted, { deadline, lineCounts })).rejects.toThrow("time is up");
  expect((await read(wanted.part, lineCounts)).starts).toEqual([4 * pieceBytes]);
});
