/** Finishes transactions of killed processes, before any other code reads the tree. */

import { Refusal } from "../../base/errors.ts";
import type { Log } from "../../base/log/log.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { leaveRemains, logConflict } from "./commit.ts";
import { hasDeniedStep } from "./denied-steps.ts";
import { isGenuine } from "./genuine-record.ts";
import type { Intents, LeftIntent } from "./intents.ts";
import { folderIdentity } from "./prepare.ts";
import type { IntendedStep, IntentRecord, RecordedEntry } from "./record.ts";
import { flushSteps, removeAside, rollBack } from "./roll-back.ts";
import { lockRoot } from "./root-lock.ts";

export interface Recovering {
  readonly jail: Jail;
  readonly editLock: Disk["editLock"];
  readonly intents: Intents;
  readonly fsync: boolean;
  readonly log: Log | undefined;
}

interface AtStart extends Recovering {
  readonly folder: StateFolder;
  /** Whether to log only, and change nothing. */
  readonly readOnly: boolean;
}

/**
 * Rolls back each transaction that was not committed, and removes the remains of the others. If the system
 * refuses, as for a full disk, it throws an error of one sentence, and the next start continues.
 */
export async function recoverTransactions(recovering: AtStart): Promise<void> {
  const { intents, readOnly, folder, log } = recovering;
  if (intents.isEmpty) return;
  for (const record of intents.kept())
    log?.warn(
      "the record of a transaction that was left half done is still there; remove it once you have looked",
      {
        record,
      },
    );
  if (readOnly) {
    await sayLeft(recovering);
    return;
  }
  using _lock = await lockRoot(folder);
  await recoverLocked(recovering);
}

/** Like `recoverTransactions`, for a caller that holds the lock of the root. */
export async function recoverLocked(recovering: Recovering): Promise<void> {
  const { intents } = recovering;
  for await (const left of intents.left()) {
    try {
      await recover(recovering, left);
    } catch (error) {
      throw notFinished(left, error);
    } finally {
      intents.release(left);
    }
  }
}

async function sayLeft({ intents, log }: Recovering): Promise<void> {
  for await (const left of intents.left()) {
    intents.release(left);
    if (typeof left.content !== "string") warnOfLeft(log, left);
  }
}

const warnOfLeft = (log: Log | undefined, { id }: LeftIntent): void =>
  log?.warn("a killed process left a transaction, which only a worker that may write can finish", {
    transaction: id,
  });

async function recover(recovering: Recovering, left: LeftIntent): Promise<void> {
  const { intents, log } = recovering;
  if (left.content === "torn") {
    await intents.remove(left);
    log?.warn("a transaction was stopped before it changed anything", { transaction: left.id });
    return;
  }
  const steps = await stepsToFinish(recovering, left);
  if (steps === undefined || typeof left.content === "string") return;
  if (left.content.isCommitted) await finishCommitted(recovering, { left, steps });
  else await takeBack(recovering, { left, steps });
}

/**
 * Returns the steps of a record. If this worker may not finish them, it logs the reason and returns
 * `undefined`.
 */
export async function stepsToFinish(
  recovering: Recovering,
  left: LeftIntent,
): Promise<readonly IntendedStep[] | undefined> {
  const { intents, jail, log } = recovering;
  const transaction = left.id;
  const slice = createTimeSlice();
  const expected = { id: left.id, state: intents.identity };
  if (
    typeof left.content === "string" ||
    !(await runInSlices(isGenuine(left.content.record, expected), slice))
  ) {
    log?.error("the record of a transaction is not one that a worker wrote here, and nothing of it is done", {
      transaction,
      record: intents.keep(left),
    });
    return undefined;
  }
  const steps = await runInSlices(stepsHere(jail, left.content.record), slice);
  if (steps === undefined) {
    log?.warn("the record of a transaction belongs to a folder that is no longer here", {
      transaction,
      record: left.path,
    });
    return undefined;
  }
  // The root may have been configured as read-only since.
  if (await runInSlices(hasReadOnlyStep(jail, steps), slice)) {
    warnOfLeft(log, left);
    return undefined;
  }
  if (await hasDeniedStep(jail, steps)) {
    intents.refuse(left);
    log?.error(
      "a killed process left a transaction of paths that the configuration denies or protects, which only a worker that may change them can finish",
      { transaction, record: left.path },
    );
    return undefined;
  }
  return steps;
}

interface Found {
  readonly left: LeftIntent;
  readonly steps: readonly IntendedStep[];
}

async function finishCommitted(recovering: Recovering, { left, steps }: Found): Promise<void> {
  const { jail, intents, fsync, log } = recovering;
  try {
    if (fsync) await flushSteps(jail, steps);
    await removeAside(jail, steps);
    await intents.remove(left);
  } catch (error) {
    leaveRemains(recovering, left, error);
    return;
  }
  log?.info("a transaction was done, and what it had replaced is removed", { transaction: left.id });
}

async function takeBack(recovering: Recovering, { left, steps }: Found): Promise<void> {
  const { intents, log } = recovering;
  const paths = await rollBack({ ...recovering, steps });
  if (paths.length > 0) {
    logConflict(log, { transaction: left.id, paths, record: intents.keep(left) });
    return;
  }
  await intents.remove(left);
  log?.info("a transaction was stopped half done, and is taken back", { transaction: left.id });
}

/**
 * Returns the steps with the current device numbers, which a reboot may have changed; `undefined` if a served
 * folder has been replaced.
 */
function* stepsHere(
  jail: Jail,
  { base, roots = [{ name: ".", ...base }], steps }: IntentRecord,
): Steps<readonly IntendedStep[] | undefined> {
  const devices = new Map<string, string>();
  for (const { name, dev, ino } of roots) {
    const now = folderIdentity(jail, name);
    if (now.ino !== ino) return undefined;
    devices.set(dev, now.dev);
  }
  const here = (entry: RecordedEntry) => ({ ...entry, dev: devices.get(entry.dev) ?? entry.dev });
  const found: IntendedStep[] = [];
  for (const step of steps) {
    if (step.kind === "place") found.push({ ...step, staged: here(step.staged) });
    else if (step.kind === "exchange")
      found.push({ ...step, staged: here(step.staged), entry: here(step.entry) });
    else found.push({ ...step, entry: here(step.entry) });
    yield;
  }
  return found;
}

function* hasReadOnlyStep(jail: Jail, steps: readonly IntendedStep[]): Steps<boolean> {
  for (const step of steps) {
    if (jail.isReadOnly(step.kind === "rename" ? step.from : step.path)) return true;
    yield;
  }
  return false;
}

/** An error whose one sentence names the transaction that cannot be finished, and the reason. */
export class UnfinishedTransaction extends Error {
  override readonly name = "UnfinishedTransaction";
}

const notFinished = ({ id, path }: LeftIntent, error: unknown): unknown => {
  const reason = error instanceof Refusal ? error.message : errnoOf(error);
  if (reason === undefined) return error;
  return new UnfinishedTransaction(
    `Transaction ${id}, which a killed process left half done, cannot be taken back now (${reason}): nothing is served until it is; remove the cause and start again. Its record is ${path}.`,
  );
};
