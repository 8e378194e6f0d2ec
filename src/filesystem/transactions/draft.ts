/** A transaction with the temporary names that its steps use. */

import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Expected, Staged, Step } from "../disk/steps.ts";
import { isTemporary, makerOf, type TransactionMark, transactionName } from "../jail/temporary.ts";
import { type NamedEntries, type NamedEntry, NameTree } from "./name-tree.ts";
import type { IntendedStep, RecordedEntry } from "./record.ts";

export interface DraftStep {
  readonly step: Step;
  readonly temporary: string;
  /** The third name of an exchange. */
  readonly aside: string | undefined;
  readonly entries: NamedEntries;
}

/** Tracks names through all steps. Throws ESTALE if a step expects an entry that no earlier one leaves. */
export async function draftSteps(
  steps: readonly Step[],
  mark: TransactionMark,
  slice: TimeSlice,
): Promise<DraftStep[]> {
  const tree = new NameTree();
  const third = new Map<string, string>();
  const nameAgain = (name: string): string => {
    if (makerOf(name) === undefined) return name;
    const known = third.get(name) ?? transactionName(mark, 2 * steps.length + third.size);
    third.set(name, known);
    return known;
  };
  const drafts: DraftStep[] = [];
  for (const [index, planned] of steps.entries()) {
    const step = withNames(planned, nameAgain);
    const temporary = transactionName(mark, index * 2);
    const entries = tree.apply(
      step.kind === "rename" || step.kind === "chmod" ? step : { ...step, temporary },
    );
    const aside = step.kind === "exchange" ? transactionName(mark, index * 2 + 1) : undefined;
    drafts.push({ step, temporary, aside, entries });
    await slice.yieldIfDue();
  }
  return drafts;
}

/**
 * Returns the step with the temporary names of this transaction in its paths, which a plan cannot know. A
 * step without any is not copied.
 */
function withNames(step: Step, nameAgain: (name: string) => string): Step {
  const paths = step.kind === "rename" ? [step.from, step.to] : [step.path];
  if (!paths.some((path) => path.split("/").some(isTemporary))) return step;
  const renamed = (path: string) => path.split("/").map(nameAgain).join("/");
  if (step.kind === "rename") return { ...step, from: renamed(step.from), to: renamed(step.to) };
  return { ...step, path: renamed(step.path) };
}

/** Returns the entry that a step stages, if any. */
export const stagedOf = ({ step }: DraftStep): Staged | undefined =>
  step.kind === "place" || step.kind === "exchange" ? step.staged : undefined;

/** Returns the entry that a step expects, if any. */
export const expectationOf = ({ step }: DraftStep): Expected | undefined =>
  step.kind === "place" ? undefined : step.expected;

/** Returns the step in the form of the record. All its entries must have been identified. */
export function recordStep({ step, temporary, aside, entries }: DraftStep, modeBefore: number): IntendedStep {
  const recorded = (entry: NamedEntry | undefined): RecordedEntry => entry!.recorded!;
  const { staged, entry } = entries;
  switch (step.kind) {
    case "place":
      return { kind: "place", path: step.path, temporary, staged: recorded(staged) };
    case "exchange": {
      const both = { staged: recorded(staged), entry: recorded(entry) };
      return { kind: "exchange", path: step.path, temporary, aside: aside!, ...both };
    }
    case "set-aside":
      return { kind: "set-aside", path: step.path, temporary, entry: recorded(entry) };
    case "rename":
      return { kind: "rename", from: step.from, to: step.to, entry: recorded(entry) };
    case "chmod": {
      const modes = { before: modeBefore, after: step.mode };
      return { kind: "chmod", path: step.path, ...modes, entry: recorded(entry) };
    }
  }
}
