/** The changes of calls that cannot be undone, because the journal does not have what they replaced. */
import type { Mutation, MutationListener, MutationOutcome, Requester } from "../disk/mutation.ts";
import { isTemporary } from "../jail/temporary.ts";

/** A step that cannot be undone. */
interface LostStep {
  /** The object that stands for its call. */
  readonly call: object;
  /** The time of the step, in microseconds since 1970. */
  readonly at: number;
  readonly paths: readonly string[];
  /** Whether it failed, so that nothing was changed. */
  isFailed: boolean;
}

/** Maximum steps without a record whose paths are kept. The newest count. */
const maxKept = 1000;

export class LostChanges {
  readonly #ofCalls = new WeakMap<object, number>();
  /** The steps of each mutation, and of each transaction. */
  readonly #ofMutations = new WeakMap<Mutation, LostStep[]>();
  readonly #unrecorded: LostStep[] = [];
  #count = 0;

  /** Returns the number of all changes since the start. */
  get count(): number {
    return this.#count;
  }

  /** Returns the number of changes of this call so far. */
  of(requester: Requester): number {
    return this.#ofCalls.get(callOf(requester)) ?? 0;
  }

  /** Adds a change. `isRecorded` says whether a record has it, as one that cannot be undone. */
  add(
    mutation: Mutation,
    { from, at, isRecorded }: { readonly from?: string | undefined; at: number; isRecorded: boolean },
  ): void {
    const { path, whole, requester, takesBack = false } = mutation;
    if (requester === undefined || (takesBack && this.#isTakenBack(path, requester))) return;
    const paths = from === undefined ? [path] : [path, from];
    const step = { call: callOf(requester), at, paths, isFailed: false };
    this.#add(step, 1);
    for (const one of isTransaction(whole) ? [mutation, whole] : [mutation]) {
      const steps = this.#ofMutations.get(one);
      if (steps === undefined) this.#ofMutations.set(one, [step]);
      else steps.push(step);
    }
    if (isRecorded) return;
    this.#unrecorded.push(step);
    if (this.#unrecorded.length > maxKept) this.#unrecorded.shift();
  }

  /** Removes the creation of a folder that its call takes back. Returns false if it was not lost. */
  #isTakenBack(path: string, requester: Requester): boolean {
    const call = callOf(requester);
    const isMaking = (step: LostStep) => step.call === call && step.paths[0] === path && !step.isFailed;
    const making = this.#unrecorded.findLast(isMaking);
    if (making === undefined) return false;
    this.#add(making, -1);
    making.isFailed = true;
    return true;
  }

  /** Removes what a mutation that has failed did not change after all. */
  fail(mutation: Mutation): void {
    for (const step of this.#ofMutations.get(mutation) ?? []) {
      if (!step.isFailed) this.#add(step, -1);
      step.isFailed = true;
    }
  }

  /** Returns the number of calls that have made changes without a record after this time. */
  unrecordedAfter(time: number): number {
    return new Set(this.#after(time).map(({ call }) => call)).size;
  }

  /** Returns whether a change without a record was made after this time at, above or below a path. */
  isUnrecorded(path: string, time: number): boolean {
    return this.#after(time).some(({ paths }) =>
      paths.some((one) => one === path || path.startsWith(`${one}/`) || one.startsWith(`${path}/`)),
    );
  }

  #after(time: number): LostStep[] {
    return this.#unrecorded.filter(({ at, isFailed }) => at > time && !isFailed);
  }

  #add({ call }: LostStep, more: number): void {
    this.#ofCalls.set(call, (this.#ofCalls.get(call) ?? 0) + more);
    this.#count += more;
  }
}

/** Counts the changes of a worker that should keep a journal and cannot. */
export class UnrecordedChanges implements MutationListener {
  readonly #lost = new LostChanges();

  /** Returns the number of changes of this call so far. */
  lossesOf(requester: Requester): number {
    return this.#lost.of(requester);
  }

  before(mutation: Mutation): void {
    if (isStep(mutation) && !isHidden(mutation.path))
      this.#lost.add(mutation, { at: Date.now() * 1000, isRecorded: false });
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    if (outcome === "failed") this.#lost.fail(mutation);
  }
}

/** Returns the object that all contexts of one call share. */
export const callOf = (requester: Requester): object => requester.call ?? requester;

/** Returns whether to keep a mutation. The steps of a tree are kept, and not the tree as a whole. */
export const isStep = ({ isTree, kind }: Mutation): boolean => !isTree && kind !== "sweep";

/** Returns whether the whole is a transaction. Completed parts of any other tree stay done if it fails. */
export const isTransaction = (whole: Mutation | undefined): whole is Mutation =>
  whole?.kind === "transaction";

/** Returns whether a path is that of a temporary file, which callers do not see. */
export const isHidden = (path: string): boolean => isTemporary(path.slice(path.lastIndexOf("/") + 1));
