/** Makes several changes atomically (coder §18), even if the process is killed in the middle. */

import { Refusal } from "../../base/errors.ts";
import type { Log, LogFields } from "../../base/log/log.ts";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { createSemaphore } from "../../base/scheduling/semaphore.ts";
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Disk } from "../disk/disk.ts";
import type { Requester } from "../disk/mutation.ts";
import type { Plan } from "../disk/steps.ts";
import type { TransactionMark } from "../jail/temporary.ts";
import type { StateFolder } from "../state/state-folder.ts";
import { commitSteps } from "./commit.ts";
import { Intents } from "./intents.ts";
import { recoverLocked, recoverTransactions, UnfinishedTransaction } from "./recover.ts";
import { type Resolution, resolveKept } from "./resolve.ts";
import { lockRoot } from "./root-lock.ts";
import { ChangedMeanwhile, refusalOfState } from "./step-refusals.ts";
import { refuseTransaction } from "./transaction-errors.ts";

export interface Committing {
  readonly requester: Requester;
  /** The caller's name for it. */
  readonly label?: string | undefined;
  /**
   * Returns the error for a change that twice found an entry different from its plan. Default: the refusal.
   */
  readonly whenChanged?: ((refusal: Refusal) => Refusal) | undefined;
}

export interface Committed<T> {
  readonly value: T;
  /** Its name, 16 hexadecimal digits, or `undefined` if there was nothing to do. */
  readonly transaction: string | undefined;
}

export interface Transactions {
  /**
   * Makes the steps of a plan, all or none, while no other transaction of any worker works on the folder, and
   * no other call on one of their paths. `plan` is called again if it had to wait for that, and once if a
   * step finds an entry different from its plan. Throws the errors of `plan`, and the refusal of the first
   * step that cannot be made, with the index of its change in `details.change`.
   */
  run<T>(plan: () => Promise<Plan<T>>, committing: Committing): Promise<Committed<T>>;
  /**
   * The names of transactions that were left half done, because another program has changed one of their
   * entries.
   */
  readonly unresolved: readonly string[];
  /** Resolves one of these transactions; see `resolveKept`. */
  resolve(
    id: string,
    options: { readonly force: boolean; readonly requester: Requester },
  ): Promise<Resolution | undefined>;
}

/** Maximum number of half-done transactions. With more, no other one is begun. */
const maxUnresolved = 64;

export interface TransactionsOptions {
  readonly files: Disk;
  readonly folder: StateFolder;
  readonly log?: Log | undefined;
}

/** Creates transactions whose records are in `folder`. */
export function createTransactions({ files, folder, log }: TransactionsOptions): Transactions {
  const intents = new Intents(folder, files.config);
  const turns = createSemaphore({ permits: 1 });
  const ctx = { ...files, intents, log };

  const { jail, editLock, config } = files;
  const recovering = { jail, editLock, intents, fsync: config.fsync, log };

  /** Waits for the lock of the root, which all workers share. */
  async function takeTurn(deadline: Deadline): Promise<Disposable> {
    const turn = turns.tryAcquire() ?? (await turns.acquire({ signal: deadline.signal }));
    try {
      const lock = await lockRoot(folder, deadline);
      return {
        [Symbol.dispose]() {
          lock[Symbol.dispose]();
          turn[Symbol.dispose]();
        },
      };
    } catch (error) {
      turn[Symbol.dispose]();
      throw refusalOfState(error);
    }
  }

  /**
   * Rolls back transactions of other workers that were killed since this one started, because a half-done
   * tree is not a sound base.
   */
  async function recoverNow(): Promise<void> {
    if (intents.isEmpty) return;
    try {
      await recoverLocked(recovering);
    } catch (error) {
      if (!(error instanceof UnfinishedTransaction)) throw error;
      log?.error(error.message);
      throw refuseTransaction.noRecord("an earlier one is half done and cannot be taken back yet");
    }
  }

  async function runPlanned<T>(plan: () => Promise<Plan<T>>, committing: Committing): Promise<Committed<T>> {
    const slice = createTimeSlice();
    for (;;) {
      const { turns: before } = files.locks;
      const first = await plan();
      const keys = [...first.keys];
      // A plan may have 100,000 paths: comparing them must not end its last slice.
      await slice.yieldIfDue();
      using _turn = await files.locks.acquire(keys, committing.requester.deadline);
      // If other calls changed entries since the plan was begun, only a step would notice.
      const isCurrent = files.locks.turns === before + 1;
      await slice.yieldIfDue();
      await files.mutations.catchUp();
      const { steps, value, keys: needed } = isCurrent ? first : await plan();
      // The new plan may need paths that are not locked, so it must be made again.
      if (![...needed].every((key) => first.keys.has(key))) continue;
      if (steps.length === 0) return { value, transaction: undefined };
      return { value, ...(await commitSteps(ctx, { ...committing, steps })) };
    }
  }

  async function runTwice<T>(plan: () => Promise<Plan<T>>, committing: Committing): Promise<Committed<T>> {
    try {
      return await runPlanned(plan, committing);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
    }
    try {
      return await runPlanned(plan, committing);
    } catch (error) {
      if (!(error instanceof ChangedMeanwhile)) throw error;
      throw committing.whenChanged?.(error.refusal) ?? error.refusal;
    }
  }

  return {
    async run(plan, committing) {
      using _turn = await takeTurn(committing.requester.deadline);
      await recoverNow();
      if (intents.keptIds.length >= maxUnresolved) throw refuseTransaction.manyLeft(maxUnresolved);
      try {
        return await runTwice(plan, committing);
      } catch (error) {
        const isStopped = error instanceof Refusal && error.ending === "stop";
        throw isStopped ? refuseTransaction.stopping() : error;
      }
    },
    get unresolved() {
      return intents.keptIds;
    },
    async resolve(id, { force, requester }) {
      using _turn = await takeTurn(requester.deadline);
      return await resolveKept(recovering, id, { force });
    },
  };
}

/** Returns whether entries of a transaction are abandoned, by the records in `folder`. */
export function abandonedIn(folder: StateFolder): (mark: TransactionMark) => boolean {
  const intents = new Intents(folder, { fsync: false });
  return ({ id, keeper }) => keeper === intents.keeper && !intents.has(id);
}

/** Returns whether some process left a transaction, or is working on one. Throws the errno error. */
export const hasIntents = (folder: StateFolder): boolean => !new Intents(folder, { fsync: false }).isEmpty;

export interface RecoveryOptions {
  readonly files: Disk;
  readonly folder: StateFolder;
  readonly readOnly: boolean;
  readonly log: Log | undefined;
}

/** Finishes the transactions of killed processes. Returns what it has logged, except errors. */
export async function recoverIn({ files, folder, readOnly, log }: RecoveryOptions): Promise<string[]> {
  const intents = new Intents(folder, files.config);
  const { jail, editLock, config } = files;
  const said: string[] = [];
  const noting = (level: "info" | "warn") => (message: string, fields?: LogFields) => {
    said.push(message);
    log?.[level](message, fields);
  };
  const noted: Log = {
    info: noting("info"),
    warn: noting("warn"),
    error: (...event) => log?.error(...event),
    debug: (...event) => log?.debug(...event),
  };
  await recoverTransactions({ jail, editLock, intents, folder, fsync: config.fsync, readOnly, log: noted });
  return said;
}
