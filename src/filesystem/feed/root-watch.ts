/** Watches one root for a feed: its tree, and the changes that other programs make in it. */
import { Refusal } from "../../base/errors.ts";
import { createTimeSlice, type Steps } from "../../base/scheduling/time-slice.ts";
import { ancestorsOf, pathIn } from "../jail/backend.ts";
import type { Folder } from "../jail/folder.ts";
import { pathInRoot } from "../jail/root-rules.ts";
import type { Stamps } from "../jail/statx.ts";
import type { SharedTree, TreeSubscription } from "../watch/shared-tree.ts";
import { StampReader } from "../watch/stamp-reader.ts";
import type { IncompleteReason, WatchedFolder } from "../watch/watched-tree.ts";
import type { AnnouncedCommands } from "./announced-commands.ts";
import type { FoundChange, Period, RootGap, RunningCommand } from "./change.ts";
import { CommandsElsewhere, type CommandsElsewhereOptions } from "./commands-elsewhere.ts";
import { ExternalChanges, type Presence } from "./external-changes.ts";
import { latin1Of } from "./paths.ts";
import { idle, joinPeriods, periodOf } from "./period.ts";
import { folderIn, PresenceReader } from "./presence.ts";

/** A root, or the one base. */
export interface RootTree {
  /** The name that its paths begin with; "" for the one base. */
  readonly name: string;
  readonly tree: SharedTree;
}

export interface RootWatchOptions extends RootTree {
  /** Opens its folder. Throws a refusal if that is gone. */
  readonly openBase: () => Folder;
  /** Returns whether a call is not done with the path yet. */
  readonly isHeld: (path: string) => boolean;
  /** Returns how many transactions are over. Until the next one is, a held path stays held. */
  readonly transactionsOver: () => number;
  /** Returns the commands that run in this process now. */
  readonly ownCommands: () => readonly RunningCommand[];
  /** The commands that other workers run on the same tree, if they can be known. */
  readonly announced: AnnouncedCommands | undefined;
  readonly onEnd: CommandsElsewhereOptions["onEnd"];
  readonly onFound: (change: FoundChange) => void;
  /** Reports that earlier changes in it are unknown, and whether its folder is gone or back. */
  readonly onGap: (kind: RootGap, during: Period) => void;
}

/** The state that exists while the tree is watched. */
interface Watching {
  readonly base: Folder;
  readonly subscription: TreeSubscription;
  readonly external: ExternalChanges;
  readonly stamps: StampReader;
  readonly presence: PresenceReader;
  readonly elsewhere: CommandsElsewhere | undefined;
}

type Stamped = Stamps | "missing";

const none: readonly RunningCommand[] = [];

/** The reasons for incomplete trees that cannot be rebuilt at once. */
const lasting: ReadonlySet<IncompleteReason> = new Set(["limit", "base-gone"]);

/** Watches one root. Paths here, as in all of the feed, begin with the name of the root. */
export class RootWatch {
  readonly #options: RootWatchOptions;
  #watching: Watching | undefined;
  /** The descriptor of the folder that it last tried to watch. No other folder ever gets the same one. */
  #tried: Folder["descriptor"] | "none" = "none";
  #isGone = false;
  /** Whether its folder was gone, and is back without a report of that. */
  #isBack = false;
  /** Whether changes of other programs are unknown, until the tree is complete and was drained. */
  #hasGap = true;
  /** The commands that run now, and those that have run since everything was compared. */
  #period = idle;
  #latePeriod = idle;
  /** The commands that `#period` is made of: of this process, and of others. */
  #running: readonly [readonly RunningCommand[], readonly RunningCommand[]] = [[], []];
  /** The comparison of the newest drain. They run one after another. */
  #comparing: Promise<unknown> = Promise.resolve();

  constructor(options: RootWatchOptions) {
    this.#options = options;
  }

  get isWatched(): boolean {
    return this.#watching !== undefined;
  }

  /** Whether its folder was gone at the last attempt to open it. */
  get isGone(): boolean {
    return this.#isGone;
  }

  /** Whether changes of other programs are currently reported. */
  get reportsExternal(): boolean {
    return this.#watching !== undefined && !this.#hasGap;
  }

  get unwatchedFolders(): number {
    return this.#watching?.subscription.tree.unwatchedFolders ?? 0;
  }

  /**
   * Begins to watch if possible. Throws a refusal if the one base is gone; one of several roots may come back
   * later.
   */
  open(): void {
    if (this.#hasName) this.follow();
    else if (this.#watching === undefined) this.#watch(this.#options.openBase());
  }

  /**
   * Watches the current folder of the root. One of several roots whose folder was gone is served again when
   * another folder is there.
   */
  follow(): void {
    if (!this.#hasName) return;
    try {
      this.#followTo(this.#options.openBase());
    } catch (error) {
      if (!(error instanceof Refusal)) throw error;
      this.#lose();
    }
  }

  /** Builds the tree if it can be rebuilt. Returns whether another drain may end a gap. */
  async build(): Promise<boolean> {
    const tree = this.#watching?.subscription.tree;
    if (tree === undefined || !this.#hasGap) return false;
    const { state } = tree;
    if (state.isComplete) return true;
    if (lasting.has(state.reason)) return false;
    await tree.build();
    return true;
  }

  /**
   * Finds the changes that other programs have made so far. Resolves to whether everything noted before has
   * been compared.
   */
  async drain(number: number): Promise<boolean> {
    const watching = this.#watching;
    if (watching === undefined) return false;
    const { subscription, external, elsewhere } = watching;
    elsewhere?.follow();
    const { isComplete } = await subscription.drain();
    if (this.#watching !== watching) return false;
    if (isComplete && !this.#hasGap) {
      if (await this.#compareInTurn(watching, number)) return true;
      // Then another drain ends the gap.
      if (this.#watching !== watching || this.#hasGap) return false;
    }
    // The notes may include findings of the tree's own build, and would grow with each call while the tree
    // stays incomplete.
    external.clear(number);
    if (isComplete) {
      this.#hasGap = false;
      elsewhere?.list();
      this.#onGap(this.#isBack ? "created" : "modified");
      this.#isBack = false;
    }
    return false;
  }

  /** Finds what other programs have done so far, first to paths that a call is about to change. */
  compareAt(paths: readonly string[]): void {
    const external = this.#watching?.external;
    if (external === undefined || this.#hasGap) return;
    this.readEvents();
    if (this.#hasGap || external.isOverfull) return;
    const inRoot = paths.map((path) => this.#inRoot(path));
    external.reconcileAt(inRoot.flatMap((path) => [...ancestorsOf(path), path]));
  }

  /** Reads the events so far. Called before a step of a call, whose hooks read the rest at once. */
  *readEventsInSteps(): Steps<void> {
    const subscription = this.#watching?.subscription;
    if (subscription !== undefined) yield* subscription.readEventsInSteps();
  }

  /** Notes what other programs had done before the newest drain began, which may read it only later. */
  readEvents(): void {
    const subscription = this.#watching?.subscription;
    if (subscription?.tree.hasUnreadEvents) subscription.readEvents();
  }

  /** Returns the current stamps of the name, or `undefined` if the tree is not watched. */
  stampsAt(path: string): Stamped | undefined {
    return this.#watching?.stamps.at(latin1Of(this.#inRoot(path)));
  }

  /** Returns the folder at a path as of the last drain, if the tree is watched. */
  folderAt(path: string): WatchedFolder | undefined {
    const base = this.#watching?.subscription.tree.base;
    return base && folderIn(base, latin1Of(this.#inRoot(path)));
  }

  /** Returns the kind of entry at a path as of the last drain, if the tree is watched. */
  presenceAt(path: string): Presence | undefined {
    return this.#watching?.presence.presenceAt(latin1Of(this.#inRoot(path)));
  }

  /** Notes the entry that a call left under a name, before the drain of the next number. */
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
    this.#watching?.elsewhere?.end();
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
    const { name, tree, isHeld, transactionsOver, announced, onEnd } = this.#options;
    const external = new ExternalChanges({
      stampsAt: (place) => this.#watching?.stamps.at(place) ?? "missing",
      presenceAt: (place) => this.#watching!.presence.presenceAt(place),
      isWatchedAt: (place) => this.#watching!.presence.isWatchedAt(place),
      isHeld: (path) => isHeld(pathIn(name, path)),
      transactionsOver,
      period: () => this.#currentPeriod(),
      latePeriod: () => joinPeriods(this.#latePeriod, this.#currentPeriod()),
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
    else {
      const { tree } = subscription;
      const elsewhere = announced && new CommandsElsewhere({ announced, tree, onEnd });
      const stamps = new StampReader(base.descriptor!);
      const presence = new PresenceReader(tree);
      this.#watching = { base, subscription, external, stamps, presence, elsewhere };
    }
  }

  /** Returns the commands that run now, as the events read so far say. */
  #currentPeriod(): Period {
    const own = this.#options.ownCommands();
    const others = this.#watching?.elsewhere?.running ?? none;
    if (this.#running[0] === own && this.#running[1] === others) return this.#period;
    this.#running = [own, others];
    this.#period = periodOf([...others, ...own]);
    this.#latePeriod = joinPeriods(this.#latePeriod, this.#period);
    return this.#period;
  }

  /** Reports a gap. Commands of other workers may have begun and ended since it came about. */
  #onGap(kind: RootGap): void {
    const own = new Set(this.#options.ownCommands());
    const isAlone = this.#latePeriod.commands.every((command) => own.has(command));
    this.#options.onGap(kind, isAlone ? this.#currentPeriod() : idle);
  }

  #compareInTurn(watching: Watching, number: number): Promise<boolean> {
    const compared = this.#comparing.then(() => this.#compare(watching, number));
    this.#comparing = compared;
    return compared;
  }

  /** Compares everything that is noted, in slices. Resolves to whether nothing was lost in the meantime. */
  async #compare(watching: Watching, number: number): Promise<boolean> {
    const { external, subscription } = watching;
    const isLost = () => this.#watching !== watching || this.#hasGap || external.isOverfull;
    const slice = createTimeSlice();
    const steps = external.reconcile(number);
    while (!isLost()) {
      if (subscription.tree.hasUnreadEvents) {
        await subscription.drain();
        continue;
      }
      if (steps.next().done) {
        this.#latePeriod = this.#currentPeriod();
        return true;
      }
      await slice.yieldIfDue();
    }
    return false;
  }

  /** Watches that folder, unless it is the one that was already tried. */
  #followTo(base: Folder): void {
    if (base.descriptor === this.#tried) {
      base.close();
      return;
    }
    this.close();
    this.#watch(base);
    this.#isBack = this.#isGone;
    this.#isGone = false;
  }

  /** Notes that the folder is gone, with everything in it. */
  #lose(): void {
    if (this.#isGone) return;
    this.#isGone = true;
    this.#tried = "none";
    this.close();
    this.#onGap("deleted");
  }

  #report(change: FoundChange): void {
    const { name, onFound } = this.#options;
    const { path, from } = change;
    const moved = from !== undefined && { from: pathIn(name, from) };
    onFound({ ...change, path: pathIn(name, path), ...moved });
  }
}
