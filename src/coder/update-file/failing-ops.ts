/** Finds all ops of a file that fail, once one of them has. */
import { Refusal } from "../../base/errors.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { applyLineOps } from "../../text/edits/line-ops.ts";
import { joinPieces } from "../../text/edits/pieces.ts";
import type { CoderContext } from "../define.ts";
import { type FurtherFailure, withFailures } from "../transact/further-failures.ts";
import { applyTextOp, type FileOps } from "./apply-ops.ts";
import type { Ops } from "./ops.ts";

type Op = Ops[number];

/** Maximum ops that are tried again, since the likely place of a missing text takes long to find. */
const maxOps = 50;
const maxFailures = 5;

/** Maximum characters of two texts together whose lines are compared. */
const maxCompared = 16_384;

/**
 * Returns the refusal of ops with those of the other ops that fail as well, each without those that fail
 * before it. An op is left out if it may be meant for the text that a failing one would write.
 */
export async function withFailingOps(
  first: Refusal,
  { path, ops, isUnnamed, text }: FileOps & { readonly text: Buffer },
  context: CoderContext,
): Promise<Refusal> {
  if (ops.length === 1 || ops.length > maxOps || first.reason === "timeout") return first;
  const failures: FurtherFailure[] = [];
  const written: string[] = [];
  // The ops share it, since each alone may take less than a slice.
  const slice = createTimeSlice();
  const inSlices = <T>(steps: Steps<T>) => runInSlices(steps, slice, () => context.deadline.check());
  const attempt = async <T>(op: Op, work: () => T | Promise<T>): Promise<T | undefined> => {
    try {
      return await work();
    } catch (error) {
      if (!(error instanceof Refusal) || error.reason === "timeout") throw first;
      written.push(textOf(op));
      if (error.message !== first.message) failures.push({ message: error.message });
      return undefined;
    }
  };
  const options = { keepsLineEnds: context.profile.keeps_line_ends };
  const applyOnly = (kept: (index: number) => boolean) => {
    const few = ops.map((op, index) => (isTextOp(op) || kept(index) ? op : ({ op: "replace" } as const)));
    return inSlices(applyLineOps(text, few, options));
  };
  const sound = new Set<number>();
  for (const [index, op] of ops.entries()) {
    if (isTextOp(op)) continue;
    const edited = await attempt(op, () => applyOnly((one) => one === index));
    if (edited !== undefined) sound.add(index);
  }
  let body = text;
  try {
    body = joinPieces((await applyOnly((index) => sound.has(index))).parts);
  } catch {
    // The ops overlap, which the first refusal reports.
  }
  for (const [index, op] of ops.entries()) {
    if (!isTextOp(op) || failures.length >= maxFailures) continue;
    if (slice.isDue) await slice.yieldIfDue();
    if (await attempt(op, () => inSlices(mayBeForAny(op, written)))) {
      // Later ops may be meant for its text in turn.
      written.push(textOf(op));
      continue;
    }
    const scope = { path, index, isUnnamed, isTraced: true, context };
    body = (await attempt(op, () => applyTextOp(body, op, scope)))?.body ?? body;
  }
  return withFailures(first, failures);
}

const isTextOp = (op: Op): op is Extract<Op, { op: "replace" | "str_replace" }> =>
  op.op === "replace" || op.op === "str_replace";

/** Returns the text that an op would write. */
function textOf(op: Op): string {
  if (op.op === "str_replace") return op.new_str;
  if (op.op === "replace") return op.replacement;
  return op.op === "remove" ? "" : op.content;
}

type TextOp = Extract<Op, { op: "replace" | "str_replace" }>;

/** Returns whether an op may be meant for one of the texts that other ops would write. */
export function* mayBeForAny(op: TextOp, written: readonly string[]): Steps<boolean> {
  for (const one of written) if (yield* mayBeFor(op, one)) return true;
  return false;
}

/**
 * Returns whether an op may be meant for a text that another op would write: if a line of one is a part of a
 * line of the other. Comparing all lines of long texts would take longer than their ops.
 */
function* mayBeFor(op: TextOp, written: string): Steps<boolean> {
  if (op.op === "replace" || op.old_str.length + written.length > maxCompared) return written !== "";
  const [ours, theirs] = [linesOf(op.old_str), linesOf(written)];
  for (const [lines, others] of [
    [ours, theirs],
    [theirs, ours],
  ] as const) {
    const text = others.join("\n");
    for (const line of lines) {
      yield;
      if (text.includes(line)) return true;
    }
  }
  return false;
}

const linesOf = (text: string): string[] =>
  text
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "");
