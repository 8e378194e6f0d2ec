/** The part of a feed that watches one root: its tree, and what other programs change in it. */
import { Refusal } from "../errors.ts";
import { pathIn } from "../jail/backend.ts";
import type { Folder } from "../jail/folder.ts";
import { pathInRoot } from "../jail/root-rules.ts";
import type { Stamps } from "../jail/statx.ts";
import type { SharedTree, TreeSubscription } from "../watch/shared-tree.ts";
import { StampReader } from "../watch/stamp-reader.ts";
import type { IncompleteReason } from "../watch/tree.ts";
import type { FoundChange } from "./change.ts";
import { ExternalChanges } from "./external-changes.ts";
import { latin1Of } from "./paths.ts";
import { presenceIn } from "./presence.ts";

/** A root, or the one base. */
export interface RootTree {
  /** With which its paths begin; "" of the one base. */
  readonly name: string;
  readonly tree: SharedTree;
}

export interface RootWatchOptions extends RootTree {
  /** Holds its folder. Throws a refusal where that is gone. */
  readonly openBase: () => Folder;
  /** Whether a call is not done with the path yet. */
  readonly isHeld: (path: string) => boolean;
  readonly onFound: (change: FoundChange) => void;
  /** Changes that were made in it before are not known. */
  readonly onGap: () => void;
}

/** What is there while its tree is watched. */
interface Watching {
  readonly base: Folder;
  readonly subscription: TreeSubscription;
  readonly external: ExternalChanges;
  readonly stamps: StampReader;
}

type Stamped = Stamps | "missing";

/** Why a tree is not complete that cannot be built at once. */
const lasting: ReadonlySet<IncompleteReason> = new Set(["limit", "base-gone"]);

/** Paths here, as in all of the feed, begin with the name of the root. */
export class RootWatch {
  readonly #options: RootWatchOptions;
  #watching: Watching | undefined;
  /** The descriptor of the folder that it has last tried to watch, which another one never has. */
  #tried: Folder["descriptor"] | "none" = "none";
  #isGone = false;
  /** Changes of other programs are not known until the tree is complete and was drained. */
  #hasGap = true;

  constructor(options: RootWatchOptions) {
    this.#options = options;
  }

  get isWatched(): boolean {
    return this.#watching !== undefined;
  }

  /** Whether its folder was gone when it was looked for last. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether changes of other programs are reported, now. */
  get reportsExternal(): boolean {
    return this.#watching !== undefined && !this.#hasGap;
  }

  get unwatchedFolders(): number {
    return this.#watching?.subscription.tree.unwatchedFolders ?? 0;
  }

  /**
   * Begins to watch where that is possible. Throws a refusal where the one base is gone; of several roots, one that is gone
   * may be back later.
   */
  open(): void {
    if (this.#hasName) this.follow();
    else if (this.#watching === undefined) this.#watch(this.#options.openBase());
  }

  /** Watches what the root is now: of several roots, one whose folder is gone is served again when another is there. */
  follow(): void {
    if (!this.#hasName) return;
    try {
      this.#followTo(this.#options.openBase());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#lose();
    }
  }

  /** Builds the tree where it can be built again. Returns whether another drain may end a gap. */
  async build(): Promise<boolean> {
    const tree = this.#watching?.subscription.tree;
    if (tree === undefined || !this.#hasGap) return false;
    const { state } = tree;
    if (state.isComplete) return true;
    if (lasting.has(state.reason)) return false;
    await tree.build();
    return true;
  }

  /** Finds what other programs have changed until now. Resolves to whether it has compared all that was noted until then. */
  async drain(number: number): Promise<boolean> {
    const watching = this.#watching;
    if (watching === undefined) return false;
    const { subscription, external } = watching;
    const drained = subscription.drain();
    // The queue was read already, as a rule, and what is noted happened before what a call is about to do.
    if (!this.#hasGap && !external.isOverfull) external.reconcile(0);
    const { isComplete } = await drained;
    if (this.#watching !== watching) return false;
    if (isComplete && !this.#hasGap && !external.isOverfull) {
      external.reconcile(number);
      return true;
    }
    // What is noted may be what the tree has found itself, when it was built; and it would grow with each call while the tree
    // stays incomplete.
    external.clear(number);
    if (isComplete) {
      this.#hasGap = false;
      this.#options.onGap();
    }
    return false;
  }

  /** What has the name now; undefined where the tree is not watched. */
  stampsAt(path: string): Stamped | undefined {
    return this.#watching?.stamps.at(latin1Of(this.#inRoot(path)));
  }

  /** Notes what a call left under a name, before the drain of the next number. */
  leave(path: string, stamps: Stamped | undefined, drain: number): void {
    this.#watching?.external.leave(this.#inRoot(path), stamps, drain);
  }

  moveBelow(from: string, to: string): void {
    this.#watching?.external.moveBelow(this.#inRoot(from), this.#inRoot(to));
  }

  dropBelow(path: string): void {
    this.#watching?.external.dropBelow(this.#inRoot(path));
  }

  close(): void {
    this.#watching?.subscription.end();
    this.#watching?.base.close();
    this.#watching = undefined;
  }

  /** Whether it is one of several roots. */
  get #hasName(): boolean {
    return this.#options.name !== "";
  }

  #inRoot(path: string): string {
    return pathInRoot(this.#options.name, path);
  }

  #watch(base: Folder): void {
    const { name, tree, isHeld } = this.#options;
    const external = new ExternalChanges({
      stampsAt: (place) => this.#watching?.stamps.at(place) ?? "missing",
      presenceAt: (place) => presenceIn(this.#watching!.subscription.tree.base, place),
      isHeld: (path) => isHeld(pathIn(name, path)),
      onFound: (change) => this.#report(change),
    });
    this.#hasGap = true;
    const subscription = tree.subscribe({
      onChange: (change) => external.add(change),
      onAllDirty: () => {
        this.#hasGap = true;
      },
    });
    this.#tried = base.descriptor;
    if (typeof subscription === "string") base.close();
    else this.#watching = { base, subscription, external, stamps: new StampReader(base.descriptor!) };
  }

  /** Watches that folder, where it is not the one that it has tried already. */
  #followTo(base: Folder): void {
    if (base.descriptor === this.#tried) {
      base.close();
      return;
    }
    this.close();
    this.#watch(base);
    this.#isGone = false;
  }

  /** Its folder is gone, with all that was in it. */
  #lose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#tried = "none";
    this.close();
    this.#options.onGap();
  }

  #report(change: FoundChange): void {
    const { name, onFound } = this.#options;
    const { path, from } = change;
    const moved = from !== undefined && { from: pathIn(name, from) };
    onFound({ ...change, path: pathIn(name, path), ...moved });
  }
}
