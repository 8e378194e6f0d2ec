/**
 * Shares one watched tree among all parts of a worker that follow changes, so that only one queue and one set
 * of watches is needed.
 */
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import type { Folder } from "../jail/folder.ts";
import { openWatchedTree, type Unwatchable } from "./open-tree.ts";
import type { IncompleteReason, TreeChange, TreeListener, WatchedTree, WatchState } from "./watched-tree.ts";

/**
 * Milliseconds between two drains without a request. Few programs fill the kernel's queue within 100. At
 * rest, if no listener follows each change, fewer wakeups are worth the risk of having to rebuild the tree.
 */
const drainEvery = { active: 100, atRest: 1000 } as const;
/** Milliseconds without a request or an event until a tree counts as at rest. */
const restAfter = 30_000;
/**
 * Milliseconds between two builds of a tree that keeps becoming incomplete: the first delay, and the maximum.
 */
const buildEvery = { first: 250, most: 8000 } as const;
/** Like `buildEvery`, but for a system that allows no further watches. */
const buildEveryAtLimit = { first: 60_000, most: 3_600_000 } as const;

/** The share of one listener in the tree. */
export interface TreeSubscription {
  readonly tree: WatchedTree;
  /** Like `WatchedTree.drain`, but if the queue cannot be read, the tree is incomplete. */
  drain(): Promise<WatchState>;
  /** Like `WatchedTree.readEvents`, but if the queue cannot be read, the tree is incomplete. */
  readEvents(): void;
  /** Like `readEvents`, but in steps, between which other calls may run. */
  readEventsInSteps(): Steps<void>;
  /** Resolves when the tree is complete, or an attempt to build it has ended. */
  built(): Promise<void>;
  /** Stops reporting to the listener. The last one to end closes the tree. */
  end(): void;
}

export interface SharedTreeOptions {
  /** Opens the base. The tree holds it until it is closed. */
  readonly openBase: () => Folder;
  readonly open?: typeof openWatchedTree;
  /**
   * Called when a complete tree becomes incomplete, or when the first build fails, with the reason; then not
   * again before it is complete.
   */
  readonly onIncomplete?: ((reason: Exclude<IncompleteReason, "unlisted">) => void) | undefined;
}

/**
 * Opens the tree for the first listener, builds it in the background, and rebuilds it whenever it becomes
 * incomplete. It is also drained on a timer, so that the kernel's queue does not overflow between requests.
 */
export class SharedTree {
  readonly #options: SharedTreeOptions;
  readonly #listeners = new Listeners();
  #opened: { readonly tree: WatchedTree; readonly base: Folder } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;
  /** The time of the last request or event, from `performance.now()`. */
  #activeAt = 0;
  /**
   * The earliest time of the next build, from `performance.now()`, and the delay that it was computed from.
   */
  #buildAt = 0;
  #delay = 0;
  /** The reason why the tree is incomplete, once it was reported. */
  #reported: IncompleteReason | undefined;
  #isClosed = false;
  /** Callbacks of those who wait for the end of a build. */
  #onBuilt: (() => void)[] = [];

  constructor(options: SharedTreeOptions) {
    this.#options = options;
  }

  /**
   * Reports changes to the listener from this call on. The tree may be complete already, or be built soon.
   * Returns a reason if no tree can be watched. Throws a refusal if the base is gone.
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
      readEvents: () => runAtOnce(readEventsOf(tree)),
      readEventsInSteps: () => readEventsOf(tree),
      built: async () => {
        if (!tree.state.isComplete) await new Promise<void>((resolve) => this.#onBuilt.push(resolve));
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
    this.#endWaiting();
    this.#reported = undefined;
    this.#buildAt = 0;
  }

  /** Drains the tree until it ends. An incomplete tree is built instead, once a build is due. */
  async #maintain(tree: WatchedTree): Promise<void> {
    const { reports } = this.#listeners;
    const state = await drained(tree);
    if (this.#opened?.tree !== tree) return;
    this.#reportState(state);
    const isDue = !state.isComplete && state.reason !== "base-gone" && performance.now() >= this.#buildAt;
    if (isDue) {
      const built = await tree.build().catch(() => tree.state);
      this.#putOffNextBuild(!built.isComplete && built.reason === "limit");
      this.#endWaiting();
    }
    if (this.#listeners.reports !== reports) this.#activeAt = performance.now();
    if (this.#opened?.tree === tree) this.#schedule(tree);
  }

  #endWaiting(): void {
    for (const resolve of this.#onBuilt.splice(0)) resolve();
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
    // A tree that stayed complete for long may be rebuilt at once.
    const wasLong = now - this.#buildAt > most;
    this.#delay = wasLong ? first : Math.min(Math.max(2 * this.#delay, first), most);
    this.#buildAt = now + this.#delay;
  }
}

/** Drains the tree. If the queue cannot be read, the tree is incomplete. */
const drained = (tree: WatchedTree): Promise<WatchState> => tree.drain().catch(() => tree.state);

/** Reads the events of the tree. If the queue cannot be read, the tree is incomplete. */
function* readEventsOf(tree: WatchedTree): Steps<void> {
  try {
    yield* tree.readEventsInSteps();
  } catch {
    // The tree has noted that it is incomplete.
  }
}

/** Forwards each report to all listeners. */
class Listeners implements TreeListener {
  /** Set only if some listener wants changes, because following moves takes time. */
  onChange: ((change: TreeChange) => unknown) | undefined;
  /** The number of reports so far. */
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
    this.onChange = wants ? (change) => this.#reportChange(change) : undefined;
  }

  #reportChange(change: TreeChange): "long" | undefined {
    let isLong = false;
    this.#report((one) => {
      if (one.onChange?.(change) === "long") isLong = true;
    });
    return isLong ? "long" : undefined;
  }

  #report(to: (one: TreeListener) => void): void {
    this.reports++;
    for (const one of this.#all) to(one);
  }
}
