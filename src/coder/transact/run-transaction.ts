/**
 * Shared by calls that make several changes atomically, or plan them in a dry run and commit the plan later.
 */
import { quoteShort, Refusal } from "../../base/errors.ts";
import { PlannedTree } from "../../filesystem/overlay/planned-tree.ts";
import { areSameReads, type Reads } from "../../filesystem/overlay/reads.ts";
import type { Committing } from "../../filesystem/transactions/transactions.ts";
import { memoryBytes } from "../../text/sizes/memory-size.ts";
import type { CoderContext } from "../define.ts";
import { explainedLike, explainInPlan } from "../missing-paths/missing-path.ts";
import type { PlanAnswer } from "./plans.ts";
import { refuseTransacting, type Staleness } from "./transact-errors.ts";

/** Several changes that are made atomically. */
export interface Transaction<T> {
  /**
   * Makes the changes on the planned tree of the context, and sets `tree.change` to the index of each. Called
   * again after it had to wait for other calls, and to carry out a plan, and must then do the same.
   */
  make(context: CoderContext, tree: PlannedTree): Promise<T>;
  /** The caller's name for it. */
  readonly label?: string | undefined;
  /** The input of `make`, which a plan keeps. */
  readonly request: unknown;
  /**
   * The changes in order, as an error names them: the word for a change, and the paths that the caller sent.
   */
  readonly named: { readonly noun: "Change" | "File"; readonly paths: readonly string[] };
}

/** The outcome of a transaction, or of its dry run. */
export interface Done<T> {
  readonly value: T;
  /** Its name, or `undefined` if there was nothing to do. */
  readonly transaction: string | undefined;
}

/** Makes the changes, all or none. Throws the refusal of the first that cannot be made. */
export function runTransaction<T>(transaction: Transaction<T>, context: CoderContext): Promise<Done<T>> {
  return explaining(transaction, context, () =>
    commit(transaction, context, { plan: async () => await show(transaction, context) }),
  );
}

/** Throws the refusal of a change with its place among the others, and that nothing was changed. */
async function explaining<T>(
  { named: { noun, paths } }: Pick<Transaction<unknown>, "named">,
  { profile }: CoderContext,
  act: () => Promise<T>,
): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const change = error instanceof Refusal ? error.details?.["change"] : undefined;
    const path = typeof change === "number" ? paths[change] : undefined;
    if (!profile.explained_errors || path === undefined) throw error;
    const placeOf = (index: number) =>
      `${noun} ${index + 1} of ${paths.length} (${quoteShort(paths[index]!)})`;
    const place = paths.length === 1 ? undefined : placeOf(Number(change));
    const refusal = error as Refusal;
    throw explainedLike(refuseTransacting.inPlace(refusal, place, placeOf), refusal);
  }
}

/**
 * Plans the changes without making them, and keeps the plan; `answer` makes the answer of the call that
 * commits it. Throws the errors of making them that can be detected in advance.
 */
export async function planTransaction<T>(
  transaction: Transaction<T>,
  context: CoderContext,
  answer: (done: Done<T>, context: CoderContext) => unknown,
): Promise<Partial<PlanAnswer> & { readonly value: T }> {
  const { value, steps, reads } = await explaining(transaction, context, () =>
    show(transaction, context, { remembersReads: true }),
  );
  if (steps.length > 0) requireTransactions(context);
  // The paths, and the files that may be changed, stay those of this call.
  const { jail } = context;
  const carryOut = async (plan: string, later: CoderContext) =>
    answer(await carryOutPlan(transaction, { ...later, jail }, { plan, reads }), later);
  const bytes = memoryBytes(transaction.request) + reads.size * bytesOfRead;
  return { value, ...context.plans?.add({ caller: context.caller, carryOut, bytes }) };
}

/** The estimated memory for the facts read at one path. */
const bytesOfRead = 512;

interface Shown<T> extends Pick<PlannedTree, "steps" | "reads" | "keys"> {
  readonly value: T;
}

async function show<T>(
  transaction: Transaction<T>,
  context: CoderContext,
  { remembersReads = false } = {},
): Promise<Shown<T>> {
  const { config } = context;
  const tree = new PlannedTree(context, { maxBytes: config.max_transaction_bytes, remembersReads });
  const planned = { ...context, tree };
  const value = await explainInPlan(() => transaction.make(planned, tree), planned);
  return { value, steps: tree.steps, keys: tree.keys, reads: tree.reads };
}

async function commit<T>(
  { label }: Transaction<T>,
  context: CoderContext,
  { plan, whenChanged }: { readonly plan: () => Promise<Shown<T>> } & Pick<Committing, "whenChanged">,
): Promise<Done<T>> {
  const { transactions } = context;
  if (transactions !== undefined)
    return await transactions.run(plan, {
      requester: context,
      label: context.label ?? label,
      whenChanged,
    });
  // A refusal that does not depend on changed files is thrown unchanged.
  const { value, steps } = await plan();
  if (steps.length > 0) requireTransactions(context);
  return { value, transaction: undefined };
}

function requireTransactions({ transactions }: CoderContext): void {
  if (transactions === undefined) throw refuseTransacting.unavailable();
}

interface Planned {
  readonly plan: string;
  readonly reads: Reads;
}

function carryOutPlan<T>(
  transaction: Transaction<T>,
  context: CoderContext,
  { plan, reads }: Planned,
): Promise<Done<T>> {
  const { paths } = transaction.named;
  const stale = (refusal: Refusal) => refuseTransacting.stalePlan(plan, stalenessBy(refusal, paths));
  const again = async () => {
    const shown = await unlessStale(stale, () => show(transaction, context, { remembersReads: true }));
    if (areSameReads(shown.reads, reads)) return shown;
    throw refuseTransacting.stalePlan(plan, { paths: changedIn(shown.reads, reads) });
  };
  return commit(transaction, context, { plan: again, whenChanged: stale });
}

/** Turns refusals of changes that the dry run permitted into a stale plan: something has changed since. */
async function unlessStale<T>(stale: (refusal: Refusal) => Refusal, act: () => Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason === "timeout") throw error;
    throw stale(error);
  }
}

/** Returns the path of the change that is refused now. `paths` are those of the changes. */
function stalenessBy({ path, details: { change } = {} }: Refusal, paths: readonly string[]): Staleness {
  const changed = path ?? paths[Number(change)];
  return changed === undefined ? { change } : { change, paths: [changed] };
}

/** Returns the paths whose entries differ in the two plans. */
function changedIn(now: Reads, then: Reads): readonly string[] {
  const all = new Set([...now.keys(), ...then.keys()]);
  return [...all].filter((path) => now.get(path) !== then.get(path));
}
