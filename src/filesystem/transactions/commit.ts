/** Makes the steps of a transaction, all or none. */

import type { Log } from "../../base/log/log.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Mutations } from "../disk/mutations.ts";
import type { Step } from "../disk/steps.ts";
import type { TransactionMark } from "../jail/temporary.ts";
import { type DraftStep, draftSteps } from "./draft.ts";
import { type Prepared, type PreparingContext, prepare } from "./prepare.ts";
import type { IntendedStep } from "./record.ts";
import { flushSteps, removeAside, rollBack } from "./roll-back.ts";
import { StepRunner } from "./run-step.ts";
import { Staging } from "./stage.ts";
import { refusing } from "./step-refusals.ts";
import { refuseTransaction } from "./transaction-errors.ts";

export interface CommitContext extends PreparingContext {
  readonly mutations: Mutations;
  readonly editLock: Disk["editLock"];
  readonly ended: Disk["ended"];
  readonly log: Log | undefined;
}

export interface Commit {
  readonly steps: readonly Step[];
  readonly requester: Requester;
  /** The caller's name for the transaction. */
  readonly label?: string | undefined;
}

/**
 * Makes all steps. Otherwise throws the refusal of the first that cannot be made, with the index of its
 * change in the details, and leaves the tree unchanged. Call it while no other transaction works on the root.
 */
export async function commitSteps(ctx: CommitContext, commit: Commit): Promise<{ transaction: string }> {
  const mark = ctx.intents.newMark();
  try {
    await commitMarked(ctx, commit, mark);
  } finally {
    ctx.ended.add(mark.id);
  }
  return { transaction: mark.id };
}

async function commitMarked(ctx: CommitContext, commit: Commit, mark: TransactionMark): Promise<void> {
  const { steps, requester } = commit;
  const slice = createTimeSlice();
  const drafts = await draftSteps(steps, mark, slice);
  using staging = new Staging(ctx, requester);
  const intent = await prepare(ctx, { drafts, staging, requester, transaction: mark.id, slice });
  try {
    await runAll(ctx, { ...commit, drafts, intent });
    await finish(ctx, intent);
  } finally {
    ctx.intents.release(intent.file);
  }
}

interface Running extends Commit {
  readonly drafts: readonly DraftStep[];
  readonly intent: Prepared;
}

/** Makes the steps, as one mutation. If it throws, they have been rolled back. */
async function runAll(ctx: CommitContext, running: Running): Promise<void> {
  const { requester, label, intent, drafts } = running;
  const transaction = { id: intent.file.id, ...(label !== undefined && { label }) };
  const whole = { kind: "transaction", path: "", entry: "dir", requester, transaction } as const;
  await ctx.mutations.tree(
    () => whole,
    async (mutation) => {
      const runner = new StepRunner(ctx, { mutations: ctx.mutations, requester, whole: mutation });
      try {
        await runEach(runner, running);
        if (ctx.config.fsync) await flushSteps(ctx.jail, intent.record.steps);
        await refusing(drafts[0]!.step, () => ctx.intents.markCommitted(intent.file));
      } catch (error) {
        throw await takeAllBack(ctx, { ...intent, made: runner.made }, error);
      }
    },
  );
}

async function runEach(runner: StepRunner, { drafts, requester }: Running): Promise<void> {
  const { deadline } = requester;
  const slice = createTimeSlice();
  const atBegin = deadline.spent;
  for (const [done, draft] of drafts.entries()) {
    deadline.check();
    const pace = { spent: deadline.spent - atBegin, left: deadline.left, done, count: drafts.length };
    if (isHopeless(pace)) throw deadline.refusal;
    await refusing(draft.step, () => runner.run(draft));
    await slice.yieldIfDue();
  }
}

/** The progress of a transaction, with the milliseconds that its steps have taken and may still take. */
interface Pace {
  readonly spent: number;
  readonly left: number;
  readonly done: number;
  readonly count: number;
}

/** Minimum number of steps done for an estimate. */
const minSteps = 10;

/**
 * Returns whether the remaining steps would miss the deadline at the current pace, and rolling back would
 * take the rest of the time. Otherwise the caller would get its answer in the middle of the rollback.
 */
const isHopeless = ({ spent, left, done, count }: Pace): boolean =>
  done >= minSteps && left < spent && (spent / done) * (count - done) > left;

/** Rolls back, and returns the error for the caller. */
async function takeAllBack(
  ctx: CommitContext,
  { file, record, made }: Prepared & { readonly made: number },
  error: unknown,
): Promise<unknown> {
  const { config, intents, log } = ctx;
  try {
    const conflicts = await rollBack({ ...ctx, steps: record.steps, made, fsync: config.fsync });
    if (conflicts.length === 0) {
      await intents.remove(file);
      return error;
    }
    logConflict(log, { transaction: file.id, paths: conflicts, record: intents.keep(file) });
    return refuseTransaction.notTakenBack(conflicts[0]!, file.id);
  } catch (failure) {
    log?.error("a transaction could not be taken back; the next start of a worker tries again", {
      transaction: file.id,
      record: file.path,
      reason: failure instanceof Error ? failure.message : "unknown",
    });
    return refuseTransaction.notTakenBack(pathOf(record.steps[0]!), file.id);
  }
}

const pathOf = (step: IntendedStep): string => (step.kind === "rename" ? step.from : step.path);

/** Logs the paths that a person has to repair. */
export function logConflict(
  log: Log | undefined,
  { transaction, paths, record }: { transaction: string; paths: readonly string[]; record: string },
): void {
  log?.error(
    "a transaction was left half done, because another program has changed a file of it since: nothing is overwritten, and what was there before lies under the temporary names that the record lists",
    { transaction, path: paths[0], paths: paths.length, record },
  );
}

/**
 * Removes the entries that were set aside, and the record. A failure is left to the next start, since the
 * transaction is done.
 */
async function finish(ctx: CommitContext, { file, record }: Prepared): Promise<void> {
  try {
    await removeAside(ctx.jail, record.steps);
    await ctx.intents.remove(file);
  } catch (error) {
    leaveRemains(ctx, file, error);
  }
}

/** Leaves the remains of a committed transaction to the next start. The tree is sound without them. */
export function leaveRemains(
  { intents, log }: Pick<CommitContext, "intents" | "log">,
  intent: Prepared["file"],
  error: unknown,
): void {
  intents.refuse(intent);
  log?.warn("what a transaction replaced could not be removed; the next start tries again", {
    transaction: intent.id,
    reason: error instanceof Error ? error.message : "unknown",
  });
}
