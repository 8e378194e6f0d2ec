/** One watched tree for all in a worker that want to know what changes: a kernel's queue and watches for each would be many. */
import type { Folder } from "../jail/folder.ts";
import { openWatchedTree, type Unwatchable } from "./open-tree.ts";
import type { IncompleteReason, TreeChange, TreeListener, WatchedTree, WatchState } from "./tree.ts";

/**
 * Milliseconds between two drains without a request. In 100 few programs fill the kernel's queue. At rest, where no listener wants to know
 * each change, fewer wakeups are worth that the tree may have to be built again.
 */
const drainEvery = { active: 100, atRest: 1000 } as const;
/** Milliseconds without a request or an event after which a tree is at rest. */
const restAfter = 30_000;
/** Milliseconds between two builds of a tree that becomes incomplete again and again: at first, and at most. */
const buildEvery = { first: 250, most: 8000 } as const;
/** The same where the system allows no more watches. */
const buildEveryAtLimit = { first: 60_000, most: 3_600_000 } as const;

/** The part that one listener has in the tree. */
export interface TreeSubscription {
  readonly tree: WatchedTree;
  /** As `WatchedTree.drain`; but where the queue cannot be read, the tree is incomplete. */
  drain(): Promise<WatchState>;
  /** Reports nothing to the listener any more. The last one closes the tree. */
  end(): void;
}

export interface SharedTreeOptions {
  /** Opens the base, which the tree holds until it is closed. */
  readonly openBase: () => Folder;
  readonly open?: typeof openWatchedTree;
  /** The tree was complete, or is built for the first time, and is incomplete for this reason: called once until it is complete. */
  readonly onIncomplete?: ((reason: Exclude<IncompleteReason, "unlisted">) => void) | undefined;
}

/**
 * Opens the tree for the first listener, builds it in the background, and again whenever it has become incomplete. It is drained
 * on a timer too, so that the kernel's queue does not overflow between requests.
 */
export class SharedTree {
  readonly #options: SharedTreeOptions;
  readonly #listeners = new Listeners();
  #opened: { readonly tree: WatchedTree; readonly base: Folder } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** When there was a request or an event, as `performance.now()`. */
  #activeAt = 0;
  /** When it may be built again, as `performance.now()`, and how long that was put off. */
  #buildAt = 0;
  #delay = 0;
  /** Why it is incomplete, once that was reported. */
  #reported: IncompleteReason | undefined;
  #isClosed = false;

  constructor(options: SharedTreeOptions) {
    this.#options = options;
  }

  /**
   * Reports to the listener from now on, of a tree that may be complete already, or is built soon. Says why there is none where
   * there is none. Throws a refusal where the base is gone.
   */
  subscribe(listener: TreeListener): TreeSubscription | Unwatchable {
    const tree = this.#open();
    if (typeof tree === "string") return tree;
    this.#listeners.add(listener);
    return {
      tree,
      drain: () => {
        this.#activeAt = performance.now();
        return drained(tree);
      },
      end: () => {
        this.#listeners.delete(listener);
        if (this.#listeners.isEmpty) this.#end();
      },
    };
  }

  /** The tree as of the last drain, if it is open and complete. */
  get complete(): WatchedTree | undefined {
    const tree = this.#opened?.tree;
    return tree?.state.isComplete === true ? tree : undefined;
  }

  close(): void {
    this.#isClosed = true;
    this.#end();
  }

  #open(): WatchedTree | Unwatchable {
    if (this.#isClosed) return "unsupported";
    if (this.#opened !== undefined) return this.#opened.tree;
    const { openBase, open = openWatchedTree } = this.#options;
    const base = openBase();
    let tree: WatchedTree | Unwatchable | undefined;
    try {
      tree = open(base, this.#listeners);
    } finally {
      if (typeof tree !== "object") base.close();
    }
    if (typeof tree === "string") return tree;
    this.#opened = { tree, base };
    this.#activeAt = performance.now();
    void this.#maintain(tree);
    return tree;
  }

  #end(): void {
    clearTimeout(this.#timer);
    this.#opened?.tree.close();
    this.#opened?.base.close();
    this.#opened = undefined;
    this.#reported = undefined;
    this.#buildAt = 0;
  }

  /** Until it ends, drains the tree, or builds it if it is incomplete and that is due. */
  async #maintain(tree: WatchedTree): Promise<void> {
    const { reports } = this.#listeners;
    const state = await drained(tree);
    if (this.#opened?.tree !== tree) return;
    this.#reportState(state);
    const isDue = !state.isComplete && state.reason !== "base-gone" && performance.now() >= this.#buildAt;
    if (isDue) {
      const built = await tree.build().catch(() => tree.state);
      this.#putOffNextBuild(!built.isComplete && built.reason === "limit");
    }
    if (this.#listeners.reports !== reports) this.#activeAt = performance.now();
    if (this.#opened?.tree === tree) this.#schedule(tree);
  }

  #schedule(tree: WatchedTree): void {
    const isAtRest = performance.now() - this.#activeAt > restAfter && this.#listeners.onChange === undefined;
    const delay = isAtRest ? drainEvery.atRest : drainEvery.active;
    this.#timer = setTimeout(() => void this.#maintain(tree), delay);
    this.#timer.unref();
  }

  #reportState(state: WatchState): void {
    const reason = state.isComplete ? undefined : state.reason;
    if (reason !== undefined && reason !== "unlisted" && this.#reported === undefined)
      this.#options.onIncomplete?.(reason);
    if (reason !== "unlisted") this.#reported = reason;
  }

  #putOffNextBuild(isLimit: boolean): void {
    const { first, most } = isLimit ? buildEveryAtLimit : buildEvery;
    const now = performance.now();
    // Where it was complete for long, it may be built at once.
    const wasLong = now - this.#buildAt > most;
    this.#delay = wasLong ? first : Math.min(Math.max(2 * this.#delay, first), most);
    this.#buildAt = now + this.#delay;
  }
}

/** Where the queue cannot be read the tree is incomplete. */
const drained = (tree: WatchedTree): Promise<WatchState> => tree.drain().catch(() => tree.state);

/** A listener that reports to others. */
class Listeners implements TreeListener {
  /** There while one of them wants it: to follow moves takes time. */
  onChange: ((change: TreeChange) => void) | undefined;
  /** How often something was reported. */
  reports = 0;
  readonly #all = new Set<TreeListener>();

  get isEmpty(): boolean {
    return this.#all.size === 0;
  }

  add(listener: TreeListener): void {
    this.#all.add(listener);
    this.#setOnChange();
  }

  delete(listener: TreeListener): void {
    this.#all.delete(listener);
    this.#setOnChange();
  }

  onAdded(file: number): void {
    this.#report((one) => one.onAdded?.(file));
  }

  onRemoved(file: number): void {
    this.#report((one) => one.onRemoved?.(file));
  }

  onDirty(file: number): void {
    this.#report((one) => one.onDirty?.(file));
  }

  onAllDirty(): void {
    this.#report((one) => one.onAllDirty?.());
  }

  onUnseenWrite(): void {
    this.#report((one) => one.onUnseenWrite?.());
  }

  onLinked(inode: bigint): void {
    this.#report((one) => one.onLinked?.(inode));
  }

  #setOnChange(): void {
    const wants = [...this.#all].some(({ onChange }) => onChange !== undefined);
    this.onChange = wants ? (change) => this.#report((one) => one.onChange?.(change)) : undefined;
  }

  #report(to: (one: TreeListener) => void): void {
    this.reports++;
    for (const one of this.#all) to(one);
  }
}
