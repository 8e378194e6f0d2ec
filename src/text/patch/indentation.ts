/** Finds by how much the lines of a hunk are indented differently from those of the file. */
import { LineSteps } from "../../base/scheduling/line-steps.ts";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { type HunkText, lineKinds } from "./hunk-text.ts";
import type { LineTable } from "./line-table.ts";
import { comparedFrom, comparedTo } from "./matching.ts";

/** The blanks that the lines of a file have before those of a hunk, or that they lack. */
export interface Shift {
  readonly blanks: Buffer;
  readonly isRemoved: boolean;
}

/**
 * Returns the one shift between a hunk and the lines of the file from `start`. Returns `undefined` if lines
 * are shifted differently, or if a line to add does not have the blanks that it would lose.
 */
export function* findShift(text: HunkText, body: LineTable, start: number): Steps<Shift | undefined> {
  let shift: Shift | undefined;
  const { oldLines } = text;
  const steps = new LineSteps();
  for (let at = 0; at < oldLines.count; at++) {
    const [from, to] = [body.startOf(start + at), body.endOf(start + at)];
    if (steps.isDueAfter(to - from)) yield;
    const sent = indentOf(oldLines.bytes, oldLines.extentOf(at));
    const found = indentOf(body.bytes, { from, to });
    if (sent === undefined || found === undefined) continue;
    const next = shiftBetween(sent, found);
    if (next === undefined) return undefined;
    shift ??= next;
    if (next.isRemoved !== shift.isRemoved || !next.blanks.equals(shift.blanks)) return undefined;
  }
  return shift !== undefined && (yield* fitsAdded(text, shift)) ? shift : undefined;
}

function* fitsAdded(text: HunkText, { blanks, isRemoved }: Shift): Steps<boolean> {
  const steps = new LineSteps();
  for (let line = 0; line < text.count && isRemoved; line++) {
    const extent = text.extentOf(line);
    if (steps.isDueAfter(extent.to - extent.from)) yield;
    if (text.kindOf(line) !== lineKinds.added) continue;
    const indent = indentOf(text.bytes, extent);
    if (indent !== undefined && !indent.subarray(0, blanks.length).equals(blanks)) return false;
  }
  return true;
}

function shiftBetween(sent: Buffer, found: Buffer): Shift | undefined {
  const more = found.length - sent.length;
  if (more >= 0 && found.subarray(more).equals(sent))
    return { blanks: found.subarray(0, more), isRemoved: false };
  if (more < 0 && sent.subarray(-more).equals(found))
    return { blanks: sent.subarray(0, -more), isRemoved: true };
  return undefined;
}

/** Returns the blanks before the text of a line, or `undefined` if it has none. */
export function indentOf(
  bytes: Buffer,
  { from, to }: { readonly from: number; readonly to: number },
): Buffer | undefined {
  const start = comparedFrom("endings", bytes, [from, to]);
  const end = comparedFrom("blanks", bytes, [from, to]);
  return comparedTo("blanks", bytes, [end, to]) === end ? undefined : bytes.subarray(start, end);
}
