/**
 * The changes of the tree, in order, with who made them: those of calls come from the mutations themselves, those of other
 * programs from the watched tree. Nothing is kept or watched before the first reader.
 */
import { randomBytes } from "node:crypto";
import type { Mutation, MutationListener, MutationOutcome } from "../files/mutation.ts";
import { namesOf } from "../jail/backend.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import type { SharedTree, TreeSubscription } from "../watch/shared-tree.ts";
import { StampReader } from "../watch/stamp-reader.ts";
import type { IncompleteReason } from "../watch/tree.ts";
import { CallChanges } from "./call-changes.ts";
import { type FeedChange, type FoundChange, gap, visiblePart } from "./change.ts";
import { ChangeRing } from "./change-ring.ts";
import { ExternalChanges } from "./external-changes.ts";
import { presenceIn } from "./presence.ts";

export interface FeedOptions {
  readonly jail: Pick<Jail, "denies" | "admitFolder">;
  readonly watchedTree: SharedTree;
  /** Has the listener notified of every mutation from now on. */
  readonly listen: (listener: MutationListener) => void;
}

/** How often a reader that finds changes which are not settled yet waits for another drain. */
const mostDrains = 4;

/** Milliseconds between two drains without a reader, so that few names are noted at once. */
const drainEvery = 1000;

/** Why a tree is not complete that cannot be built at once. */
const lasting: ReadonlySet<IncompleteReason> = new Set(["limit", "base-gone"]);

/** The part of a feed that watches the tree. */
interface Watching {
  readonly base: Folder;
  readonly subscription: TreeSubscription;
  readonly external: ExternalChanges;
  readonly stamps: StampReader;
}

export class Feed implements MutationListener {
  /** Another one in each process: numbers of one mean nothing in another. */
  readonly epoch: string = randomBytes(6).toString("hex");
  readonly #options: FeedOptions;
  readonly #ring: ChangeRing;
  readonly #calls: CallChanges;
  #watching: Watching | undefined;
  #timer: ReturnType<typeof setInterval> | undefined;
  #opening: Promise<void> | undefined;
  #isListening = false;
  /** Called at the next change, and when the tree is watched from now on. */
  readonly #waiting = new Set<() => void>();
  /** The tree was drained for the first time: from then on a gap is one. */
  #isOpen = false;
  #drains = 0;
  /** Changes up to this number were found by a drain that is over: a folder that is new among them is watched. */
  #settled = 0;
  /** Changes of other programs are not known until the tree is complete and was drained. */
  #hasGap = true;

  constructor(options: FeedOptions, ring: ChangeRing = new ChangeRing()) {
    this.#options = options;
    this.#ring = ring;
    this.#calls = new CallChanges({
      onFound: (change) => this.#add(change),
      onLeft: (path, stamps) => this.#watching?.external.leave(path, stamps, this.#drains),
      stampsAt: (place) => this.#watching?.stamps.at(place),
      onFolderMoved: (from, to) => this.#watching?.external.moveBelow(from, to),
      onFolderRemoved: (path) => this.#watching?.external.dropBelow(path),
    });
  }

  /** Whether changes of other programs are reported, now. */
  get reportsExternal(): boolean {
    return this.#watching !== undefined && !this.#hasGap;
  }

  /** Folders of which other programs' changes are not reported. */
  get unwatchedFolders(): number {
    return this.#watching?.subscription.tree.unwatchedFolders ?? 0;
  }

  /** Begins to keep changes of calls, once. Returns the number of the newest change. */
  listen(): number {
    if (!this.#isListening) this.#options.listen(this);
    this.#isListening = true;
    return this.#ring.newest;
  }

  /**
   * Begins to keep changes of calls, and of other programs where the tree can be watched, once. Resolves when it has begun.
   * Throws a refusal when the base is gone.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /**
   * The number of the newest change that readers get, after all that had returned when this was called. Without
   * `hasExternal` the tree is not watched for it: changes of other programs are there if it is watched anyway.
   */
  async newest({ hasExternal = true } = {}): Promise<number> {
    if (hasExternal) await this.open();
    else this.listen();
    for (let drains = 0; drains < mostDrains; drains++) {
      await this.#drain();
      if (this.#hasGap) await this.#build();
      else if (this.#settled === this.#ring.newest) break;
    }
    return this.#settled;
  }

  /**
   * Resolves when there is a change after that of this number, or may be one that only a drain finds; or when the signal aborts. So who
   * reads the changes of calls alone need not look for them.
   */
  due(after: number, signal: AbortSignal): Promise<void> {
    if (this.#watching !== undefined || this.#ring.newest > after || signal.aborted) return Promise.resolve();
    return new Promise((resolve) => {
      const end = () => {
        this.#waiting.delete(end);
        signal.removeEventListener("abort", end);
        resolve();
      };
      this.#waiting.add(end);
      signal.addEventListener("abort", end);
    });
  }

  /** Whether all changes after that of this number are kept. */
  follows(seq: number): boolean {
    return seq <= this.#settled && this.#ring.follows(seq);
  }

  /** The change of this number, which must be kept. */
  at(seq: number): FeedChange {
    return this.#ring.at(seq);
  }

  before(mutation: Mutation): void {
    // What other programs did until now comes before it.
    if (!mutation.isTree) void this.#drain();
    this.#calls.before(mutation);
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    this.#calls.after(mutation, outcome);
  }

  close(): void {
    clearInterval(this.#timer);
    this.#watching?.subscription.end();
    this.#watching?.base.close();
    this.#watching = undefined;
  }

  async #open(): Promise<void> {
    const { watchedTree, jail } = this.#options;
    const external = new ExternalChanges({
      stampsAt: (place) => this.#watching?.stamps.at(place) ?? "missing",
      presenceAt: (place) => presenceIn(this.#watching!.subscription.tree.base, place),
      isHeld: (path) => this.#calls.holds(path),
      onFound: (change) => this.#add(change),
    });
    const base = jail.admitFolder(".");
    const subscription = watchedTree.subscribe({
      onChange: (change) => external.add(change),
      onAllDirty: () => {
        this.#hasGap = true;
      },
    });
    if (typeof subscription === "string") {
      base.close();
      this.listen();
      return;
    }
    this.#watching = { base, subscription, external, stamps: new StampReader(base.descriptor!) };
    this.listen();
    this.#wake();
    this.#timer = setInterval(() => void this.#drain(), drainEvery);
    this.#timer.unref();
    await subscription.tree.build();
    await this.#drain();
    this.#isOpen = true;
  }

  /** Builds the tree where it can be built again, so that the gap ends. */
  async #build(): Promise<void> {
    const tree = this.#watching?.subscription.tree;
    if (tree !== undefined && !tree.state.isComplete && !lasting.has(tree.state.reason)) await tree.build();
  }

  /** Finds what other programs have changed until now. */
  async #drain(): Promise<void> {
    const watching = this.#watching;
    if (watching === undefined) {
      this.#settled = this.#ring.newest;
      return;
    }
    const { subscription, external } = watching;
    const number = ++this.#drains;
    const drained = subscription.drain();
    // The queue was read already, as a rule, and what is noted happened before what a call is about to do.
    if (!this.#hasGap && !external.isOverfull) external.reconcile(0);
    const found = this.#ring.newest;
    const { isComplete } = await drained;
    if (this.#watching !== watching) return;
    if (isComplete && (this.#hasGap || external.isOverfull)) {
      // What is noted may be what the tree has found itself, when it was built.
      external.clear(number);
      this.#hasGap = false;
      if (this.#isOpen) this.#ring.add(gap);
      this.#settled = this.#ring.newest;
    } else if (isComplete) {
      external.reconcile(number);
      this.#settled = Math.max(this.#settled, found);
    } else {
      // The end of the gap forgets it anyway. With a tree that stays incomplete it would grow with each call.
      external.clear(number);
      this.#settled = this.#ring.newest;
    }
  }

  #add(change: FoundChange): void {
    const { jail } = this.#options;
    const visible = visiblePart(change, (path) => !jail.denies(namesOf(path)));
    if (visible === undefined) return;
    this.#ring.add(visible);
    this.#wake();
  }

  #wake(): void {
    for (const end of [...this.#waiting]) end();
  }
}
