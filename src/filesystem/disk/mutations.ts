import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Mutation, MutationListener, MutationOutcome, Requester, StepEntries } from "./mutation.ts";

/** A mutation, with functions that find its revisions. */
export interface MutationDescription extends Omit<Mutation, "isTree" | "revisionBefore" | "revisionAfter"> {
  /** Returns the revision. Throws the errors of reading. */
  readonly revisionBefore?: (() => string | undefined) | undefined;
  readonly revisionAfter?: (() => string | undefined) | undefined;
}

/** Notifies listeners of mutations. Without any it describes nothing and hashes nothing. */
export class Mutations {
  readonly #listeners: readonly MutationListener[];
  readonly #onError: (error: unknown) => void;

  /** Creates the notifier. `onError` receives the errors of listeners. */
  constructor(listeners: readonly MutationListener[] = [], onError: (error: unknown) => void = () => {}) {
    this.#listeners = listeners;
    this.#onError = onError;
  }

  /** Whether a listener receives mutations, and may need revisions. */
  get isObserved(): boolean {
    return this.#listeners.length > 0;
  }

  /** Makes one step of the file system. */
  step<T>(describe: () => MutationDescription, act: () => T): T {
    if (this.#listeners.length === 0) return act();
    using report = this.#begin({ ...describe(), isTree: false });
    const value = act();
    report.outcome = "done";
    return value;
  }

  /** Changes a tree, in steps that receive the mutation as their `whole`. */
  async tree<T>(
    describe: () => MutationDescription,
    act: (whole: Mutation | undefined) => Promise<T>,
  ): Promise<T> {
    if (this.#listeners.length === 0) return await act(undefined);
    using report = this.#begin({ ...describe(), isTree: true });
    const { mutation } = report;
    try {
      const value = await act(mutation);
      report.outcome = "done";
      return value;
    } finally {
      if (mutation.kind === "transaction")
        await this.#awaitEach((listener) => listener.atEnd?.(mutation, report.outcome));
    }
  }

  /** Lets listeners catch up with the disk before a call changes it. Returns `undefined` if they have. */
  catchUp(): Promise<void> | undefined {
    let reading: Promise<void> | undefined;
    for (const listener of this.#listeners) {
      const one = listener.catchUp?.()?.catch(this.#onError);
      reading = reading === undefined || one === undefined ? (one ?? reading) : reading.then(() => one);
    }
    return reading;
  }

  /** Lets listeners read a folder that the next step places. */
  readPlaced(entries: StepEntries): Promise<void> {
    return this.#awaitEach((listener) => listener.readPlaced?.(entries));
  }

  /** Lets listeners read a folder that the next step removes. */
  readRemoved(entries: StepEntries, requester: Requester): Promise<void> {
    return this.#awaitEach((listener) => listener.readRemoved?.(entries, requester));
  }

  /** Lets listeners read a folder that a step has set aside. */
  readAside(entries: StepEntries): Promise<void> {
    return this.#awaitEach((listener) => listener.readAside?.(entries));
  }

  /** Lets listeners read the large files that the next step removes, replaces or moves. */
  async readAhead(entries: StepEntries, requester: Requester | undefined): Promise<void> {
    await this.#awaitEach((listener) => listener.readAhead?.(entries, requester));
    // Several steps may be due in this turn, and each may compare, hash and copy its file at once.
    await createTimeSlice(0).yieldIfDue();
  }

  async #awaitEach(act: (listener: MutationListener) => Promise<void> | undefined): Promise<void> {
    for (const listener of this.#listeners) {
      try {
        await act(listener);
      } catch (error) {
        this.#onError(error);
      }
    }
  }

  #begin({ revisionBefore, revisionAfter, ...rest }: MutationDescription & Pick<Mutation, "isTree">): Report {
    const before = new LazyRevision(revisionBefore);
    const after = new LazyRevision(revisionAfter);
    const mutation: Mutation = {
      ...rest,
      revisionBefore: () => before.value(),
      revisionAfter: () => after.value(),
    };
    this.#notify((listener) => listener.before?.(mutation));
    before.seal();
    const report: Report = {
      mutation,
      outcome: "failed",
      [Symbol.dispose]: () => {
        this.#notify((listener) => listener.after?.(mutation, report.outcome));
        after.seal();
      },
    };
    return report;
  }

  #notify(act: (listener: MutationListener) => void): void {
    for (const listener of this.#listeners) {
      try {
        act(listener);
      } catch (error) {
        this.#onError(error);
      }
    }
  }
}

/** An unfinished mutation, whose end is reported when it is disposed of. */
interface Report extends Disposable {
  readonly mutation: Mutation;
  outcome: MutationOutcome;
}

/** A revision computed on demand. It is sealed before a name or a descriptor means another file. */
class LazyRevision {
  #find: (() => string | undefined) | undefined;
  #found: string | undefined;

  constructor(find: (() => string | undefined) | undefined) {
    this.#find = find;
  }

  value(): string | undefined {
    try {
      if (this.#find !== undefined) this.#found = this.#find();
    } catch {
      // The file is unreadable or gone.
    }
    this.seal();
    return this.#found;
  }

  seal(): void {
    this.#find = undefined;
  }
}
