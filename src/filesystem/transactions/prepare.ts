/** Stages a transaction and records its steps. */

import { refuse } from "../../base/errors.ts";
import type { TimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Step } from "../disk/steps.ts";
import type { Jail } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import { type DraftStep, recordStep, stagedOf } from "./draft.ts";
import { recordOf, statsAt } from "./identity.ts";
import type { Intent, Intents } from "./intents.ts";
import type { NamedEntry } from "./name-tree.ts";
import type { IntendedStep, IntentRecord } from "./record.ts";
import type { Staging, StagingContext } from "./stage.ts";
import { ChangedMeanwhile, keepingRecord, refusing } from "./step-refusals.ts";
import { statPath } from "./survey.ts";

export interface PreparingContext extends StagingContext {
  readonly intents: Intents;
}

/** A transaction whose record is on the disk and whose steps have not begun. */
export interface Prepared {
  readonly file: Intent;
  readonly record: IntentRecord;
}

interface Preparing {
  readonly drafts: readonly DraftStep[];
  readonly staging: Staging;
  readonly requester: Requester;
  readonly transaction: string;
  readonly slice: TimeSlice;
}

/** Stages everything and writes the record. If it throws, nothing was changed. */
export async function prepare(ctx: PreparingContext, preparing: Preparing): Promise<Prepared> {
  const { drafts, staging, requester, transaction, slice } = preparing;
  try {
    for (const group of groupsToStage(drafts)) {
      const added = group.map((draft) => refusing(draft.step, () => staging.add(draft)));
      const failed = (await Promise.allSettled(added)).find(({ status }) => status === "rejected");
      if (failed?.status === "rejected") throw failed.reason;
      await slice.yieldIfDue();
    }
    for (const draft of drafts) {
      await refusing(draft.step, () => staging.record(draft));
      await slice.yieldIfDue();
    }
    const record: IntentRecord = {
      version: 1,
      transaction,
      maker: temporaryName(),
      state: await keepingRecord(() => ctx.intents.identity),
      ...rootsOf(ctx, drafts),
      steps: await recordSteps(ctx, drafts, slice),
    };
    requester.deadline.check();
    return { record, file: await keepingRecord(() => ctx.intents.write(record, slice)) };
  } catch (error) {
    await staging.discard();
    throw error;
  }
}

/** The number of files staged concurrently, since most of the time of each is its flush. */
const stagedAtOnce = 16;

/** Groups steps in order: new contents of files, which are independent, or one other step. */
function groupsToStage(drafts: readonly DraftStep[]): DraftStep[][] {
  const groups: DraftStep[][] = [];
  let files: DraftStep[] | undefined;
  for (const draft of drafts) {
    const staged = stagedOf(draft);
    const isContent = staged?.kind === "file" && !("cloneOf" in staged.content);
    if (isContent && files !== undefined && files.length < stagedAtOnce) files.push(draft);
    else groups.push([draft]);
    files = isContent ? groups.at(-1) : undefined;
  }
  return groups;
}

/**
 * Returns the base, or the roots that the steps affect: a missing root does not prevent transactions in
 * others.
 */
function rootsOf(
  { jail }: PreparingContext,
  drafts: readonly DraftStep[],
): Pick<IntentRecord, "base" | "roots"> {
  if (!jail.hasTop) return { base: folderIdentity(jail, ".") };
  const names = new Set(drafts.flatMap(({ step }) => pathsOf(step).map(jail.rootOf)));
  const roots = [...names].map((name) => ({ name, ...folderIdentity(jail, name) }));
  return { base: folderIdentity(jail, roots[0]!.name), roots };
}

const pathsOf = (step: Step): string[] => (step.kind === "rename" ? [step.from, step.to] : [step.path]);

/** Returns the identity of the folder at a path, the base or a root. */
export function folderIdentity(jail: Jail, path: string): { dev: string; ino: string } {
  using folder = jail.admitFolder(path);
  const { dev, ino } = recordOf(folder.enter((at) => statsAt(at(".")))!);
  return { dev, ino };
}

async function recordSteps(
  { jail }: PreparingContext,
  drafts: readonly DraftStep[],
  slice: TimeSlice,
): Promise<IntendedStep[]> {
  const modes = new Map<NamedEntry, number>();
  const recorded: IntendedStep[] = [];
  for (const draft of drafts) {
    recorded.push(recordStep(draft, modeBefore(jail, draft, modes)));
    await slice.yieldIfDue();
  }
  return recorded;
}

/** Returns the mode that an entry has before a step sets it, and notes the one that it has afterwards. */
function modeBefore(jail: Jail, { step, entries }: DraftStep, modes: Map<NamedEntry, number>): number {
  if (step.kind !== "chmod") return 0;
  const entry = entries.entry!;
  const before = modes.get(entry) ?? modeNow(jail, entry.pathAfter(0));
  if (before === undefined)
    throw new ChangedMeanwhile(refuse.inChange(refuse.changed(step.path), step.change));
  modes.set(entry, step.mode);
  return before;
}

/** Returns the current mode of an entry, or `undefined` if it is gone. */
function modeNow(jail: PreparingContext["jail"], path: string): number | undefined {
  const stats = statPath(jail, path);
  return stats && Number(stats.mode) & 0o7777;
}
