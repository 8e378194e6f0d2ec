import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { countLines } from "./lines.ts";
import { type LineWindow, RangeCollector, rangeOf, TailCollector, tailOf } from "./window.ts";

const bom = "\u00ef\u00bb\u00bf";

const file = fc
  .tuple(
    fc.constantFrom("", "", bom),
    fc.array(fc.constantFrom("\n", "\n", "\r\n", "\r", "a", "bb", "\0", "\u00c3\u00a9", "\u00ff"), {
      maxLength: 30,
    }),
  )
  .map(([mark, parts]) => Buffer.from(mark + parts.join(""), "latin1"));

/** A file of many chunks of the kernel. */
const longFile = fc
  .array(
    fc.tuple(fc.constantFrom("\n", "x\n", "\r\n", "y".repeat(999)), fc.integer({ min: 1, max: 20_000 })),
    {
      maxLength: 4,
    },
  )
  .map((runs) =>
    Buffer.from(runs.map(([text, times]) => text.repeat(Math.ceil(times / text.length))).join("")),
  );

/** Splits by the definition of lines, each with its ending, the byte order mark with the first. */
function splitLines(body: Buffer): Buffer[] {
  const lines = body.toString("latin1").match(/[^\n]*\n|[^\n]+$/g) ?? [];
  return (lines.length === 1 && lines[0] === bom ? [] : lines).map((line) => Buffer.from(line, "latin1"));
}

const sizes = fc.array(fc.integer({ min: 1, max: 9 }), { minLength: 1, maxLength: 5 });

function piecesOf(body: Buffer, lengths: readonly number[]): { at: number; piece: Buffer }[] {
  const pieces = [];
  for (let at = 0, n = 0; at < body.length; n++) {
    const length = lengths[n % lengths.length]!;
    pieces.push({ at, piece: body.subarray(at, at + length) });
    at += length;
  }
  return pieces;
}

/** Collects like a reader that stops as soon as it can, in a buffer that is overwritten. */
function collect(body: Buffer, range: { from: number; to: number }, lengths: readonly number[]): LineWindow {
  const collector = new RangeCollector(range, Number.POSITIVE_INFINITY);
  const shared = Buffer.alloc(16);
  for (const { piece } of piecesOf(body, lengths)) {
    if (collector.isDone) return collector.finish(false);
    collector.push(shared.subarray(0, piece.copy(shared)));
  }
  return collector.finish(true);
}

function collectTail(body: Buffer, lines: number, lengths: readonly number[]): LineWindow {
  const collector = new TailCollector(lines, Number.POSITIVE_INFINITY);
  for (const { at, piece } of piecesOf(body, lengths).reverse()) {
    if (!collector.isDone) collector.push(Buffer.from(piece), at);
  }
  return collector.finish(countLines(body.subarray(0, collector.start)));
}

const number = fc.integer({ min: 1, max: 40 });

describe("a window of lines", () => {
  test("is the slice of the file, and says what there is besides", () => {
    fc.assert(
      fc.property(
        file,
        number,
        fc.oneof(number, fc.constant(Number.POSITIVE_INFINITY)),
        (body, one, other) => {
          const [from, to] = [Math.min(one, other), Math.max(one, other)];
          const lines = splitLines(body);
          const slice = lines.slice(from - 1, to);
          const markAlone = lines.length === 0 && from === 1 ? body : Buffer.alloc(0);
          expect(rangeOf(body, { from, to })).toEqual({
            content: Buffer.concat([...slice, markAlone]),
            lines: slice.length,
            first: from,
            total: lines.length,
            hasMore: to < lines.length,
          });
        },
      ),
    );
  });

  test("is the same in a file that comes piece by piece, but for a total that was not counted", () => {
    fc.assert(
      fc.property(file, number, number, sizes, (body, one, other, lengths) => {
        const range = { from: Math.min(one, other), to: Math.max(one, other) };
        const whole = rangeOf(body, range);
        const { total = whole.total, ...window } = collect(body, range, lengths);
        expect({ ...window, total } as LineWindow).toEqual(whole);
        expect(whole.hasMore || collect(body, range, lengths).total === whole.total).toBe(true);
      }),
    );
  });

  test("and the windows behind it make up the file", () => {
    fc.assert(
      fc.property(file, fc.integer({ min: 1, max: 5 }), (body, step) => {
        const parts: Buffer[] = [];
        for (let from = 1, hasMore = true; hasMore; from += step) {
          const window = rangeOf(body, { from, to: from + step - 1 });
          parts.push(window.content);
          ({ hasMore } = window);
        }
        expect(Buffer.concat(parts)).toEqual(body);
      }),
    );
  });

  test("is the same in files of many chunks", () => {
    fc.assert(
      fc.property(
        longFile,
        fc.double({ min: 0, max: 1, noNaN: true }),
        fc.nat(50_000),
        (body, place, lines) => {
          const from = 1 + Math.floor(place * countLines(body));
          const range = { from, to: from + lines };
          const slice = splitLines(body).slice(from - 1, range.to);
          expect(rangeOf(body, range).content.equals(Buffer.concat(slice))).toBe(true);
          const collector = new RangeCollector(range, body.length);
          for (const { piece } of piecesOf(body, [70_001])) collector.push(piece);
          expect(collector.finish(true)).toEqual(rangeOf(body, range));
        },
      ),
      { numRuns: 40 },
    );
  });
});

describe("the last lines", () => {
  test("are the slice of the file", () => {
    fc.assert(
      fc.property(file, number, sizes, (body, lines, lengths) => {
        const all = splitLines(body);
        const from = Math.max(1, all.length - lines + 1);
        const slice = rangeOf(body, { from, to: Number.POSITIVE_INFINITY });
        expect(tailOf(body, lines)).toEqual(slice);
        expect(collectTail(body, lines, lengths)).toEqual(slice);
      }),
    );
  });

  test("have no number where the lines before were not counted", () => {
    const collector = new TailCollector(1, 10);
    collector.push(Buffer.from("b\nc\n"), 100);
    expect([collector.isDone, collector.start]).toEqual([true, 102]);
    expect(collector.finish(undefined)).toMatchObject({ lines: 1, first: undefined, total: undefined });
  });
});

test("more bytes than may be taken are not kept", () => {
  fc.assert(
    fc.property(file, sizes, fc.nat(10), (body, lengths, most) => {
      const range = new RangeCollector({ from: 1, to: Number.POSITIVE_INFINITY }, most);
      const tail = new TailCollector(1000, most);
      for (const { piece } of piecesOf(body, lengths)) range.push(piece);
      for (const { at, piece } of piecesOf(body, lengths).reverse()) tail.push(piece, at);
      const isOver = body.length > most;
      expect([range.isOverLimit, tail.isOverLimit]).toEqual([isOver, isOver]);
    }),
  );
});
