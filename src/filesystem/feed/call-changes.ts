/**
 * Turns mutations of calls into changes. Mutations in a transaction are reported when it is
 * done, and dropped if it failed.
 */

import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import type { Mutation, MutationKind, MutationOutcome, Requester } from "../disk/mutation.ts";
import { ignoreVanished } from "../files/ignore-vanished.ts";
import type { Stamps } from "../jail/statx.ts";
import type { CallCause, ChangeKind, FoundChange } from "./change.ts";
import type { KnownFile } from "./known-contents.ts";

type Stamped = Stamps | "missing";

export interface CallChangesOptions {
  readonly onFound: (change: FoundChange, written: KnownFile | undefined) => void;
  /** Returns the content that a step has written, if it is kept. */
  readonly writtenBy: (step: Mutation) => KnownFile | undefined;
  /** Receives the stamps that a call has left under a name, or `undefined` if they are unknown. */
  readonly onLeft: (path: string, stamps: Stamped | undefined) => void;
  readonly onFolderMoved: (from: string, to: string) => void;
  readonly onFolderRemoved: (path: string) => void;
  /** Returns the current stamps of the name, or `undefined` if the tree is not watched. */
  readonly stampsAt: (path: string) => Stamped | undefined;
  /** Returns the number of the checkpoint that a call has made so far, if any. */
  readonly checkpointOf?: ((requester: Requester) => number | undefined) | undefined;
}

/** A transaction that is still running. */
interface Transaction {
  readonly paths: Set<string>;
  /** The cause of the last change, which those of other steps share. */
  cause: CallCause | undefined;
  /** The changes so far. The mutations are left to the garbage collector, because there may be many. */
  readonly changes: { readonly change: FoundChange; readonly written: KnownFile | undefined }[];
}

const kinds: Readonly<Record<MutationKind, ChangeKind | undefined>> = {
  create: "created",
  replace: "modified",
  remove: "deleted",
  rename: "moved",
  copy: "created",
  "make-folder": "created",
  "change-mode": "modified",
  sweep: undefined,
  transaction: undefined,
};

/** Maximum size of a file, in bytes, whose revision is computed for the feed while the call waits. */
const largestHashed = 1024 * 1024;

export class CallChanges {
  readonly #options: CallChangesOptions;
  readonly #transactions = new Map<Mutation, Transaction>();
  /** The transactions whose changes are being reported. */
  readonly #reporting = new Set<Promise<void>>();
  #over = 0;
  readonly #before = new WeakMap<Mutation, readonly (Stamped | undefined)[]>();

  constructor(options: CallChangesOptions) {
    this.#options = options;
  }

  /** Whether a transaction is not over. */
  get isBusy(): boolean {
    return this.#transactions.size > 0;
  }

  /** The number of transactions that are over. */
  get transactionsOver(): number {
    return this.#over;
  }

  /** Returns whether the path belongs to a transaction that is not over. */
  holds(path: string): boolean {
    for (const { paths } of this.#transactions.values()) if (paths.has(path)) return true;
    return false;
  }

  before(mutation: Mutation): void {
    const { kind, isTree } = mutation;
    if (kind === "transaction")
      this.#transactions.set(mutation, { paths: new Set(), cause: undefined, changes: [] });
    else if (!isTree && kinds[kind] !== undefined)
      this.#before.set(
        mutation,
        changedPathsOf(mutation).map((path) => this.#stampsAt(path)),
      );
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    const { kind, isTree } = mutation;
    if (kind === "transaction") {
      this.#transactions.delete(mutation);
      this.#over++;
    } else if (isTree || kinds[kind] === undefined) return;
    else if (outcome === "failed") this.#forgive(mutation);
    else this.#add(mutation, kinds[kind]);
  }

  /** Reports a transaction whose steps are over, in slices, and holds its paths while it does. */
  async atEnd(mutation: Mutation, outcome: MutationOutcome): Promise<void> {
    const transaction = this.#transactions.get(mutation);
    if (transaction === undefined) return;
    const reported = this.#report(transaction, outcome);
    this.#reporting.add(reported);
    await reported.finally(() => this.#reporting.delete(reported));
  }

  /** Resolves when each transaction whose steps are over now has been reported. */
  async reported(): Promise<void> {
    await Promise.allSettled(this.#reporting);
  }

  async #report({ paths, changes }: Transaction, outcome: MutationOutcome): Promise<void> {
    const slice = createTimeSlice();
    if (outcome === "done")
      for (const { change, written } of changes) {
        this.#options.onFound(change, written);
        await slice.yieldIfDue();
      }
    // The steps were rolled back, so the earlier entries are there again.
    else
      for (const path of paths) {
        this.#options.onLeft(path, this.#stampsAt(path));
        await slice.yieldIfDue();
      }
  }

  /** Accepts the current entries after a failed step, which may have moved something away and back. */
  #forgive(mutation: Mutation): void {
    const before = this.#before.get(mutation) ?? [];
    for (const [index, path] of changedPathsOf(mutation).entries()) {
      const [was, now] = [before[index], this.#stampsAt(path)];
      if (was === now || (typeof was === "object" && typeof now === "object" && was.inode === now.inode))
        this.#options.onLeft(path, now);
    }
  }

  #add(mutation: Mutation, kind: ChangeKind): void {
    const { path, from, entry, whole } = mutation;
    const isFolder = entry === "dir";
    const transaction = whole === undefined ? undefined : this.#transactions.get(whole);
    if (kind === "moved" && isFolder) this.#options.onFolderMoved(from!, path);
    if (kind === "deleted" && isFolder) this.#options.onFolderRemoved(path);
    if (kind === "moved") this.#leave(from!, "missing", transaction);
    this.#leave(path, kind === "deleted" ? "missing" : this.#stampsAt(path), transaction);
    const revision = revisionIfSmall(mutation);
    const change: FoundChange = {
      path: path === "" ? "." : path,
      kind,
      ...(kind === "moved" && { from: from! }),
      isFolder,
      ...(revision !== undefined && { revision }),
      cause: this.#causeOf(mutation, transaction),
    };
    const written = this.#options.writtenBy(mutation);
    if (transaction === undefined) this.#options.onFound(change, written);
    else transaction.changes.push({ change, written });
  }

  #causeOf({ requester, whole }: Mutation, within: Transaction | undefined): CallCause {
    const checkpoint = requester && this.#options.checkpointOf?.(requester);
    if (within?.cause !== undefined && within.cause.checkpoint === checkpoint) return within.cause;
    const id = requester?.functionId;
    const transaction = whole?.transaction?.id;
    const author = requester?.author;
    const cause: CallCause = {
      by: "call",
      ...(id !== undefined && { function_id: id }),
      ...(transaction !== undefined && { transaction }),
      ...(author !== undefined && { author }),
      ...(checkpoint !== undefined && { checkpoint }),
    };
    if (within !== undefined) within.cause = cause;
    return cause;
  }

  #leave(path: string, stamps: Stamped | undefined, transaction: Transaction | undefined): void {
    this.#options.onLeft(path, stamps);
    transaction?.paths.add(path);
  }

  /**
   * Returns the current stamps of the path, or `undefined` if they are unknown, also for a name that is not
   * UTF-8, whose bytes are lost here.
   */
  #stampsAt(path: string): Stamped | undefined {
    return path.includes("\ufffd") || path === "" ? undefined : this.#options.stampsAt(path);
  }
}

/** Returns the paths whose entries a step changes. */
export const changedPathsOf = ({ path, from, kind }: Mutation): string[] =>
  from === undefined || kind !== "rename" ? [path] : [path, from];

/** Returns the revision of the file that a step wrote, unless it is large. */
export function revisionIfSmall(mutation: Mutation): string | undefined {
  const { kind, entry, entries } = mutation;
  if (entry !== "file" || (kind !== "create" && kind !== "replace")) return undefined;
  // A file staged by a transaction is no longer under its temporary name, and its revision is known.
  const size = ignoreVanished(() => entries?.placed?.()?.size) ?? 0;
  return size > largestHashed ? undefined : mutation.revisionAfter();
}
