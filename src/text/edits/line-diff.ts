/**
 * The lines that differ between two texts, by the greedy algorithm of Myers (An O(ND) Difference Algorithm
 * and Its Variations, 1986).
 */
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { countLineEnds, lineFeed } from "./lines.ts";
import type { Splice } from "./splices.ts";

/** Maximum lines that differ before everything between the common ends counts as one change. */
const maxDifferences = 1000;

/** Lines that are compared in one step. */
const linesPerStep = 4096;

/** The time to hash a byte, as a multiple of a comparison. */
const hashCost = 4;

/** Returns the changes from one text to the other, as splices of whole lines. */
export function* diffLines(before: Buffer, after: Buffer): Steps<Splice[]> {
  const old = yield* linesOf(before);
  const now = yield* linesOf(after);
  yield;
  let from = 0;
  while (from < old.hashes.length && from < now.hashes.length && old.hashes[from] === now.hashes[from])
    from++;
  let [oldTo, nowTo] = [old.hashes.length, now.hashes.length];
  while (oldTo > from && nowTo > from && old.hashes[oldTo - 1] === now.hashes[nowTo - 1]) {
    oldTo--;
    nowTo--;
  }
  yield;
  const changed = [old.hashes.subarray(from, oldTo), now.hashes.subarray(from, nowTo)] as const;
  yield;
  const blocks = yield* blocksBetween(...changed);
  yield;
  const splices = blocks.map(([oldFrom, oldEnd, nowFrom, nowEnd]) => ({
    from: old.starts[from + oldFrom]!,
    to: old.starts[from + oldEnd]!,
    length: now.starts[from + nowEnd]! - now.starts[from + nowFrom]!,
  }));
  return turnInto(before, after, splices) ? splices : [{ from: 0, to: before.length, length: after.length }];
}

/** Returns whether everything outside the splices is equal, which lines with equal hashes need not be. */
function turnInto(before: Buffer, after: Buffer, splices: readonly Splice[]): boolean {
  let [at, nowAt] = [0, 0];
  for (const { from, to, length } of [...splices, { from: before.length, to: before.length, length: 0 }]) {
    const nowFrom = nowAt + from - at;
    if (before.compare(after, nowAt, nowFrom, at, from) !== 0) return false;
    [at, nowAt] = [to, nowFrom + length];
  }
  return nowAt === after.length;
}

interface Lines {
  /** A hash of each line. Strings or numbers of a million lines would keep the garbage collector busy. */
  readonly hashes: Int32Array;
  /** The offset of each line, and the end of the text. */
  readonly starts: Uint32Array;
}

function* linesOf(text: Buffer): Steps<Lines> {
  const isOpen = text.length > 0 && text.at(-1) !== lineFeed;
  const count = countLineEnds(text).feeds + (isOpen ? 1 : 0);
  const [hashes, starts] = [new Int32Array(count), new Uint32Array(count + 1)];
  const steps = new LineSteps();
  for (let index = 0, at = 0; index < count; index++) {
    let end = at;
    let hash = 0;
    for (let byte = -1; byte !== lineFeed && end < text.length; end++) {
      byte = text[end]!;
      hash = Math.imul(hash ^ byte, 0x5bd1e995);
      hash ^= hash >>> 15;
    }
    hashes[index] = hash;
    starts[index + 1] = end;
    if (steps.isDueAfter(hashCost * (end - at))) yield;
    at = end;
  }
  return { hashes, starts };
}

/** The first and the last line that differ in each text; the last one is exclusive. */
type Block = readonly [oldFrom: number, oldTo: number, nowFrom: number, nowTo: number];

function* blocksBetween(old: Int32Array, now: Int32Array): Steps<Block[]> {
  if (old.length === 0 && now.length === 0) return [];
  const isOneChange =
    old.length === 0 || now.length === 0 || Math.abs(old.length - now.length) > maxDifferences;
  const path = isOneChange ? undefined : yield* shortestEdit(old, now);
  return path ?? [[0, old.length, 0, now.length]];
}

/** Returns the blocks of a shortest edit, or `undefined` if it has too many differences. */
function* shortestEdit(old: Int32Array, now: Int32Array): Steps<Block[] | undefined> {
  const most = Math.min(maxDifferences, old.length + now.length);
  /** The furthest line of the old text on each diagonal, for each number of differences. */
  const rounds: Int32Array[] = [];
  let furthest = new Int32Array(2 * most + 3);
  const centre = most + 1;
  let compared = 0;
  for (let differences = 0; differences <= most; differences++) {
    const next = furthest.slice();
    for (let diagonal = -differences; diagonal <= differences; diagonal += 2) {
      const down = isDown(furthest, centre, { diagonal, differences });
      let x = down ? furthest[centre + diagonal + 1]! : furthest[centre + diagonal - 1]! + 1;
      const from = x;
      while (x < old.length && x - diagonal < now.length && old[x] === now[x - diagonal]) x++;
      next[centre + diagonal] = x;
      compared += x - from + 1;
      if (compared >= linesPerStep) {
        compared = 0;
        yield;
      }
      if (x < old.length || x - diagonal < now.length) continue;
      return backtrack(rounds, centre, { x: old.length, y: now.length, differences });
    }
    rounds.push(next);
    furthest = next;
  }
  return undefined;
}

interface Point {
  readonly diagonal: number;
  readonly differences: number;
}

/** Returns whether the edit reaches a diagonal by an added line, and not by a removed one. */
const isDown = (furthest: Int32Array, centre: number, { diagonal, differences }: Point): boolean =>
  diagonal === -differences ||
  (diagonal !== differences && furthest[centre + diagonal - 1]! < furthest[centre + diagonal + 1]!);

function backtrack(
  rounds: readonly Int32Array[],
  centre: number,
  end: { readonly x: number; readonly y: number; readonly differences: number },
): Block[] {
  const blocks: Block[] = [];
  let { x, y } = end;
  for (let differences = end.differences; differences > 0; differences--) {
    const furthest = rounds[differences - 1]!;
    const diagonal = x - y;
    const down = isDown(furthest, centre, { diagonal, differences });
    const startX = down ? furthest[centre + diagonal + 1]! : furthest[centre + diagonal - 1]!;
    const startY = startX - (down ? diagonal + 1 : diagonal - 1);
    const [toX, toY] = down ? [startX, startY + 1] : [startX + 1, startY];
    const last = blocks.at(-1);
    if (last !== undefined && last[0] === toX && last[2] === toY)
      blocks[blocks.length - 1] = [startX, last[1], startY, last[3]];
    else blocks.push([startX, toX, startY, toY]);
    [x, y] = [startX, startY];
  }
  return blocks.reverse();
}
