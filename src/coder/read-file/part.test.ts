/** Tests which pieces of a large file are read. */
import { expect, test } from "bun:test";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import { LineCounts } from "../../filesystem/files/line-counts.ts";
import type { OpenFile } from "../../filesystem/files/open-file.ts";
import { readPart, type Wanted } from "./part.ts";

const line = "some text in a line\n";
const linesPerPiece = 1000;
const piece = Buffer.from(line.repeat(linesPerPiece));
const pieces = 100;

/** A file of 100 pieces of 1000 lines each. Counts the pieces that are read. */
class CountedFile implements OpenFile {
  /** No descriptor, so nothing is remembered from one read to the next. */
  readonly descriptor = -1;
  readonly stats = { size: pieces * piece.length } as OpenFile["stats"];
  piecesRead = 0;
  isClosed = false;

  attributes() {
    return undefined;
  }

  async *pieces() {
    for (let number = 0; number < pieces; number++) {
      this.piecesRead++;
      yield piece;
    }
  }

  async *piecesFromEnd() {
    for (let number = pieces - 1; number >= 0; number--) {
      this.piecesRead++;
      yield { piece, offset: number * piece.length };
    }
  }

  close() {
    this.isClosed = true;
  }
}

const usual = { path: "log", isNumbered: false, limit: { key: "max_read_bytes", bytes: 2 * piece.length } };

async function read(
  wanted: Partial<Wanted> & Pick<Wanted, "part">,
  deadline = deadlineIn(Number.POSITIVE_INFINITY),
) {
  const file = new CountedFile();
  const outcome = await readPart(
    file,
    { ...usual, ...wanted },
    { deadline, lineCounts: new LineCounts() },
  ).catch((error: Error) => error);
  expect(file.isClosed).toBe(true);
  return { outcome, piecesRead: file.piecesRead };
}

const total = pieces * linesPerPiece;

test.each([
  ["a window at the start", { part: { from: 1, to: 5 } }, 1, { lines: 5, hasMore: true, total: undefined }],
  ["a window behind the middle", { part: { from: 50_010, to: 50_020 } }, 51, { lines: 11, total: undefined }],
  ["a window over two pieces", { part: { from: 999, to: 1002 } }, 2, { lines: 4, total: undefined }],
  ["a window that ends with a piece", { part: { from: 999, to: 1000 } }, 2, { lines: 2, hasMore: true }],
  ["a window at the end", { part: { from: total, to: total } }, 100, { lines: 1, hasMore: false, total }],
  ["a window past the end", { part: { from: total + 1, to: total + 9 } }, 100, { lines: 0, total }],
  ["the last lines", { part: { tail: 5 } }, 1, { lines: 5, first: undefined, total: undefined }],
  ["the last lines of two pieces", { part: { tail: 1001 } }, 2, { lines: 1001, first: undefined }],
  [
    "the last lines with numbers",
    { part: { tail: 5 }, isNumbered: true },
    101,
    { lines: 5, first: total - 4, total },
  ],
] as const)("%s takes as many pieces as it must", async (_, wanted, most, window) => {
  const { outcome, piecesRead } = await read(wanted);
  expect(outcome).toMatchObject(window);
  expect(piecesRead).toBe(most);
});

test.each([
  ["a window", { from: 1, to: Number.POSITIVE_INFINITY }],
  ["the last lines", { tail: total }],
])("%s over the limit is refused as soon as that shows", async (_, part) => {
  const { outcome, piecesRead } = await read({ part });
  expect(outcome).toMatchObject({ reason: "too-large", details: { size: pieces * piece.length } });
  expect(piecesRead).toBe(3);
});

test.each([{ from: 1, to: 1 }, { tail: 1 }])(
  "%j: a line over the limit is not said to have parts",
  async (part) => {
    const { outcome } = await read({ part, limit: { key: "max_read_bytes", bytes: 3 } });
    expect(outcome).toMatchObject({
      reason: "too-large",
      message: expect.stringContaining("that line of it"),
    });
  },
);

test.each([
  ["a window", { from: total, to: total }],
  ["the last lines", { tail: 1 }],
])("%s is given up when the time is up", async (_, part) => {
  const { outcome, piecesRead } = await read({ part }, deadlineIn(0) satisfies Deadline);
  expect(outcome).toMatchObject({ reason: "timeout" });
  expect(piecesRead).toBe(1);
});
