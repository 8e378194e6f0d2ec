/**
 * The changes of the tree, in order, with their authors. Changes of calls come from the mutations themselves,
 * those of other programs from the watched tree, or from that of each root. Nothing is kept or watched before
 * the first reader.
 */
import { randomBytes } from "node:crypto";
import { beginAtOnce, createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { Mutation, MutationListener, MutationOutcome, Requester } from "../disk/mutation.ts";
import { readFromStart } from "../files/read.ts";
import { namesOf } from "../jail/backend.ts";
import type { Jail } from "../jail/folder.ts";
import type { AnnouncedCommands } from "./announced-commands.ts";
import { CallChanges, changedPathsOf } from "./call-changes.ts";
import {
  type CallCause,
  type Cause,
  commandsIn,
  type FeedChange,
  type FoundChange,
  gapIn,
  type Period,
  visiblePart,
} from "./change.ts";
import { ChangeRing } from "./change-ring.ts";
import { type ChangeSummary, CommandChanges } from "./command-changes.ts";
import { KnownContents, type KnownFile, maxKnown } from "./known-contents.ts";
import { causeIn, idle } from "./period.ts";
import { type RootTree, RootWatch } from "./root-watch.ts";

export interface FeedOptions {
  readonly jail: Pick<Jail, "denies" | "reopenFolder">;
  /** The tree of the one base, or one per root. */
  readonly trees: readonly RootTree[];
  /** Registers a listener that is notified of every later mutation. */
  readonly listen: (listener: MutationListener) => void;
  /** Returns the number of the checkpoint that a call has made so far, if any. */
  readonly checkpointOf?: ((requester: Requester) => number | undefined) | undefined;
  /** The commands that other workers run on the same tree, if they can be known. */
  readonly announced?: AnnouncedCommands | undefined;
}

/** A checkpoint, and the changes of calls from there on. */
export interface CheckpointPlace {
  readonly seq: number;
  /** The time of its last step, in milliseconds. */
  readonly time: number;
  /**
   * The numbers of the checkpoints that changed a path, from this one on. They distinguish calls of other
   * processes from programs.
   */
  readonly recorded?: ReadonlyMap<string, readonly number[]>;
}

/** The place in the feed where the changes of other programs begin. */
export interface ExternalBaseline {
  /** The number of the newest change then. */
  readonly seq: number;
  /** Whether a command was the first to need them. */
  readonly isCommand: boolean;
}

/** Maximum additional drains that a reader waits for if it finds changes that are not settled yet. */
const maxDrains = 4;

/** Maximum milliseconds between the clock and the time of a file that changes now. */
const clockTick = 20;

/** Milliseconds between two drains without a reader, so that few names are noted at once. */
const drainEvery = 1000;

export class Feed implements MutationListener {
  /** Identifies the feed of this process, because numbers mean nothing in another. */
  readonly epoch: string = randomBytes(6).toString("hex");
  readonly #options: FeedOptions;
  readonly #ring: ChangeRing;
  readonly #calls: CallChanges;
  readonly #roots: readonly RootWatch[];
  /** The roots, keyed by the names that paths begin with. */
  readonly #rootsByName: ReadonlyMap<string, RootWatch>;
  #timer: ReturnType<typeof setInterval> | undefined;
  #opening: Promise<void> | undefined;
  #isListening = false;
  /** The commands that run in this process, oldest first. */
  #commands: readonly CommandChanges[] = [];
  /** The times at which commands have ended, in milliseconds. */
  readonly #ends = new WeakMap<CallCause, number>();
  /** Callbacks for the next change, and for the moment when the tree becomes watched. */
  readonly #waiting = new Set<() => void>();
  /** Defined once the tree was drained. From then on, a gap is reported. */
  #baseline: ExternalBaseline | undefined;
  /** Whether the first reader is a command. */
  #isForCommand = false;
  #drains = 0;
  /** The number of the newest change found by a finished drain. A new folder up to there is watched. */
  #settled = 0;
  /** The time when the last finished drain began: the feed has all changes up to then. */
  #comparedUntil = 0;
  readonly #contents = new KnownContents();
  /** The files that the steps of calls write. */
  readonly #written = new WeakMap<Mutation, KnownFile>();

  constructor(options: FeedOptions, ring: ChangeRing = new ChangeRing()) {
    this.#options = options;
    this.#ring = ring;
    const { jail, trees } = options;
    this.#roots = trees.map(
      (root) =>
        new RootWatch({
          ...root,
          openBase: () => jail.reopenFolder(root.name),
          isHeld: (path) => this.#calls.holds(path),
          transactionsOver: () => this.#calls.transactionsOver,
          ownCommands: () => this.#commands,
          announced: options.announced,
          onEnd: (cause, time) => this.#ends.set(cause, time),
          onFound: (change) => this.#add(change),
          onGap: (kind, during) => this.#addGap(gapIn(root.name, kind), during),
        }),
    );
    this.#rootsByName = new Map(this.#roots.map((root, index) => [trees[index]!.name, root]));
    this.#calls = new CallChanges({
      onFound: (change, written) => this.#add(change, written),
      writtenBy: (step) => this.#written.get(step),
      onLeft: (path, stamps) => this.#rootOf(path)?.leave(path, stamps, this.#drains),
      stampsAt: (path) => this.#rootOf(path)?.stampsAt(path),
      // An entry that is moved from one root into another is copied and removed.
      onFolderMoved: (from, to) => this.#rootOf(to)?.moveBelow(from, to),
      onFolderRemoved: (path) => this.#rootOf(path)?.dropBelow(path),
      checkpointOf: options.checkpointOf,
    });
  }

  /** Whether changes of other programs are currently reported in every root. */
  get reportsExternal(): boolean {
    return this.#roots.every((root) => root.reportsExternal);
  }

  /** Whether `noteRead` may keep a content, in any root. */
  get keepsReads(): boolean {
    return this.#roots.some((root) => root.reportsExternal);
  }

  /** The names of the roots whose changes by other programs are not reported now. */
  get unreportedRoots(): string[] {
    return [...this.#rootsByName].flatMap(([name, root]) => (root.reportsExternal ? [] : name));
  }

  /** The number of folders in which changes of other programs are not reported. */
  get unwatchedFolders(): number {
    return this.#roots.reduce((sum, root) => sum + root.unwatchedFolders, 0);
  }

  /** The place where changes of other programs begin; `undefined` before the first reader. */
  get baseline(): ExternalBaseline | undefined {
    return this.#baseline;
  }

  /** Begins to keep changes of calls, once. Returns the number of the newest change. */
  listen(): number {
    if (!this.#isListening) this.#options.listen(this);
    this.#isListening = true;
    return this.#ring.newest;
  }

  /**
   * Begins to keep changes of calls, and of other programs if the tree can be watched, once. Resolves when it
   * has begun. Throws a refusal if the one base is gone.
   */
  open(): Promise<void> {
    this.#opening ??= this.#open().catch((error: unknown) => {
      this.#opening = undefined;
      throw error;
    });
    return this.#opening;
  }

  /**
   * Returns the number of the newest change that readers get, which covers everything that had returned
   * before this call. Without `hasExternal` the tree is not watched for it, and changes of other programs are
   * included only if it is watched anyway.
   */
  async newest({ hasExternal = true } = {}): Promise<number> {
    if (hasExternal) await this.open();
    else this.listen();
    for (let drains = 0; drains < maxDrains; drains++) {
      await this.#calls.reported();
      await this.#drainInTurn();
      this.#follow();
      if (!(await this.#build()) && this.#settled === this.#ring.newest) break;
    }
    return this.#settled;
  }

  /**
   * Attributes changes by other programs to a command from now on, until `endCommand` is called with the
   * returned object. Returns `undefined` if the feed does not report such changes. A root that is gone has
   * none.
   */
  async beginCommand(cause: CallCause): Promise<CommandChanges | undefined> {
    if (this.#opening === undefined) this.#isForCommand = true;
    await this.newest();
    const served = this.#roots.filter(({ isGone }) => !isGone);
    if (served.length === 0 || !served.every((root) => root.reportsExternal)) return undefined;
    const command = new CommandChanges(cause);
    // Changes since the drain are not its work.
    void this.#drain();
    for (const root of this.#roots) root.readEvents();
    this.#commands = [...this.#commands, command];
    return command;
  }

  /** Announces a command to the feeds of other workers, until the returned function is called. */
  announceCommand(cause: CallCause): () => void {
    const end = this.#options.announced?.begin(cause);
    return () => {
      this.#ends.set(cause, Date.now());
      end?.();
    };
  }

  /** Returns the changes since the command began. */
  async endCommand(command: CommandChanges): Promise<ChangeSummary> {
    try {
      await this.newest();
    } finally {
      this.#commands = this.#commands.filter((other) => other !== command);
    }
    const { jail } = this.#options;
    const tree = {
      folderAt: (path: string) => this.#rootOf(path)?.folderAt(path),
      presenceAt: (path: string) => this.#rootOf(path)?.presenceAt(path) ?? "nothing",
      denies: (path: string) => jail.denies(namesOf(path)),
    };
    return await runInSlices(command.summarize(tree), createTimeSlice());
  }

  /**
   * Resolves when there is a change after that of this number, or may be one that only `newest` finds, or
   * when the signal aborts. So a reader of calls' changes alone need not poll.
   */
  due(after: number, signal: AbortSignal): Promise<void> {
    if (this.#roots.some(({ isWatched, isGone }) => isWatched || isGone)) return Promise.resolve();
    if (this.#ring.newest > after || signal.aborted) return Promise.resolve();
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

  /** Returns whether all changes after that of this number are kept. */
  follows(seq: number): boolean {
    return seq <= this.#settled && this.#ring.follows(seq);
  }

  /** Returns the change of this number, which must be kept. */
  at(seq: number): FeedChange {
    return this.#ring.at(seq);
  }

  /** The number of the newest change, found so far; 0 before the first. */
  get position(): number {
    return this.#ring.newest;
  }

  /** Returns the cause of the newest change at a path after that of this number, if the feed knows it. */
  async causeAt(path: string, after: number): Promise<Cause | undefined> {
    if (!this.#isListening) return undefined;
    await this.newest({ hasExternal: false });
    for (let seq = this.#ring.newest; seq > after && this.#ring.follows(seq - 1); seq--) {
      const change = this.#ring.at(seq);
      if (change.isGap) return undefined;
      if (change.path === path) return change.cause;
    }
    return undefined;
  }

  /** Returns the programs of commands that ran while other changes came after a checkpoint, newest first. */
  async programsAfter({
    seq: last,
    time,
    recorded = new Map(),
  }: CheckpointPlace): Promise<readonly string[]> {
    if (!this.#isListening) return [];
    await this.newest({ hasExternal: false });
    const own = new Set<number>();
    const later: FeedChange[] = [];
    for (let seq = this.#ring.newest; seq > 0 && this.#ring.follows(seq - 1); seq--) {
      const change = this.at(seq);
      const { cause } = change;
      const checkpoint = cause.by === "call" ? cause.checkpoint : undefined;
      if (checkpoint !== undefined && checkpoint <= last) break;
      if (checkpoint !== undefined) own.add(checkpoint);
      else if ((change.time ?? 0) >= time && commandsIn(cause).length > 0) later.push(change);
    }
    // Very many paths may be recorded, and few of them have later changes.
    const foreign = new Map<string, number[]>();
    // A call of another process comes before what others change at the path after it.
    const others = later.reverse().filter(({ path }) => {
      const seqs = foreign.get(path) ?? recorded.get(path)?.filter((seq) => !own.has(seq)) ?? [];
      foreign.set(path, seqs);
      return seqs.pop() === undefined;
    });
    const isLater = (cause: CallCause) => (this.#ends.get(cause) ?? Number.POSITIVE_INFINITY) > time;
    const programs = others
      .reverse()
      .flatMap(({ cause }) => commandsIn(cause).filter(isLater))
      .flatMap(({ program }) => program ?? []);
    return [...new Set(programs)];
  }

  /**
   * Keeps the content that a call has just read, so that a later change by another program has a diff.
   * Ignores it if the tree is not watched, or the file may have changes that are not in the feed yet.
   */
  noteRead(path: string, { content, mode, ctimeMs }: KnownFile & { readonly ctimeMs: number }): void {
    const isSettled = this.#reportsExternalAt(path) && ctimeMs + clockTick < this.#comparedUntil;
    if (!isSettled || content.length > maxKnown.file) return;
    this.#contents.note(path, { content: Buffer.from(content), mode });
  }

  /** Returns the file that the change of this number modified, moved or removed, if a call had seen it. */
  knownBefore(path: string, seq: number): KnownFile | undefined {
    return this.#contents.before(path, seq);
  }

  catchUp(): Promise<void> | undefined {
    const reading = this.#isWatching ? beginAtOnce(this.#readEventsInSteps()) : undefined;
    return reading instanceof Promise ? reading : undefined;
  }

  before(mutation: Mutation): void {
    if (!mutation.isTree) this.#findEarlier(mutation);
    this.#calls.before(mutation);
    if (this.#reportsExternalAt(mutation.path)) this.#noteWritten(mutation);
  }

  after(mutation: Mutation, outcome: MutationOutcome): void {
    this.#calls.after(mutation, outcome);
  }

  atEnd(transaction: Mutation, outcome: MutationOutcome): Promise<void> {
    return this.#calls.atEnd(transaction, outcome);
  }

  close(): void {
    clearInterval(this.#timer);
    for (const root of this.#roots) root.close();
  }

  get #isWatching(): boolean {
    return this.#roots.some((root) => root.isWatched);
  }

  #rootOf(path: string): RootWatch | undefined {
    const slash = path.indexOf("/");
    return this.#rootsByName.get("") ?? this.#rootsByName.get(slash < 0 ? path : path.slice(0, slash));
  }

  #reportsExternalAt(path: string): boolean {
    return this.#rootOf(path)?.reportsExternal === true;
  }

  async #open(): Promise<void> {
    for (const root of this.#roots) root.open();
    this.listen();
    this.#begin();
    await this.#build();
    await this.#drain();
    this.#baseline = { seq: this.#ring.newest, isCommand: this.#isForCommand };
  }

  /** Begins draining on a timer. From now on readers have to call `newest` for changes of other programs. */
  #begin(): void {
    if (this.#timer !== undefined || !this.#isWatching) return;
    this.#wake();
    this.#timer = setInterval(() => void this.#drainInTurn(), drainEvery);
    this.#timer.unref();
  }

  /** Watches the current roots, once the feed is open. */
  #follow(): void {
    if (this.#opening === undefined) return;
    for (const root of this.#roots) root.follow();
    this.#begin();
  }

  /** Rebuilds incomplete trees. Returns whether another drain may find more. */
  async #build(): Promise<boolean> {
    const built = await Promise.all(this.#roots.map((root) => root.build()));
    return built.includes(true);
  }

  /** Finds the changes of other programs that must come before a step of a call. */
  #findEarlier(step: Mutation): void {
    void this.#drain();
    const paths = changedPathsOf(step);
    for (const root of new Set(paths.map((path) => this.#rootOf(path))))
      root?.compareAt(paths.filter((path) => this.#rootOf(path) === root));
  }

  /** Reads the events of all roots, one root after another. */
  *#readEventsInSteps(): Steps<void> {
    for (const root of this.#roots) {
      yield* root.readEventsInSteps();
      yield;
    }
  }

  /** Drains once the events so far are read, in slices if they are many. */
  async #drainInTurn(): Promise<void> {
    await this.catchUp();
    await this.#drain();
  }

  /** Finds the changes that other programs have made so far. */
  async #drain(): Promise<void> {
    if (!this.#isWatching) {
      this.#settled = this.#ring.newest;
      return;
    }
    const number = ++this.#drains;
    // Paths of a transaction are compared once it is over.
    const [began, wasBusy] = [Date.now(), this.#calls.isBusy];
    const drains = this.#roots.map((root) => root.drain(number));
    const found = this.#ring.newest;
    const compared = await Promise.all(drains);
    // Changes added since then may concern folders that are not watched yet.
    this.#settled = compared.includes(true) ? Math.max(this.#settled, found) : this.#ring.newest;
    const isCompared = compared.every((done, index) => done || this.#roots[index]!.isGone);
    const isComplete = isCompared && !wasBusy && !this.#calls.isBusy;
    if (isComplete) this.#comparedUntil = Math.max(this.#comparedUntil, began);
  }

  #noteWritten(mutation: Mutation): void {
    const { kind, entry, entries, isTree } = mutation;
    if (isTree || entry !== "file" || (kind !== "create" && kind !== "replace")) return;
    const placed = entries?.placed?.();
    if (placed === undefined || placed.size > maxKnown.file) return;
    const content = placed.read((descriptor) => readFromStart(descriptor, placed.size));
    if (content !== undefined) this.#written.set(mutation, { content, mode: placed.mode & 0o777 });
  }

  #add({ during = idle, ...change }: FoundChange, written?: KnownFile): void {
    const { jail } = this.#options;
    const visible = visiblePart(change, (path) => !jail.denies(namesOf(path)));
    const commands = during.commands.filter((one) => one instanceof CommandChanges);
    if (visible?.path !== change.path) for (const command of commands) command.noteDenied();
    if (visible === undefined) return;
    for (const command of commands) command.note(visible);
    const cause = change.cause.by === "external" ? causeIn(during) : change.cause;
    this.#ring.add({ time: Date.now(), ...visible, cause });
    this.#followContents(visible, written);
    this.#wake();
  }

  /** Ends the contents that the newest change concerns, and keeps the one that a call wrote or moved. */
  #followContents({ path, from, kind, isFolder, cause }: FoundChange, written: KnownFile | undefined): void {
    const paths = from === undefined ? [path] : [from, path];
    if (isFolder && kind !== "modified") for (const one of paths) this.#contents.dropBelow(one);
    const moved = from !== undefined && cause.by === "call" ? this.#contents.current(from) : undefined;
    for (const one of paths) this.#contents.end(one, this.#ring.newest);
    const file = written ?? moved;
    if (file !== undefined) this.#contents.note(path, file);
  }

  /** Adds a gap in a root. Anything lost before the first reader could begin does not count. */
  #addGap(gap: FoundChange, during: Period): void {
    const { path, kind } = gap;
    this.#contents.dropBelow(path === "." ? "" : path);
    if (this.#baseline === undefined) return;
    for (const command of this.#commands) command.note(gap);
    this.#ring.add(kind === "modified" ? gap : { ...gap, cause: causeIn(during) });
    this.#wake();
  }

  #wake(): void {
    for (const end of [...this.#waiting]) end();
  }
}
