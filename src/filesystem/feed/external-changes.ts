/**
 * Finds the changes of a watched tree that other programs have made. An event of the kernel says only that
 * something happened to a name, so the entry found there is compared with the one that a call, or the last
 * change found, left there.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Stamps } from "../jail/statx.ts";
import type { TreeChange } from "../watch/watched-tree.ts";
import type { FoundChange, Period } from "./change.ts";
import { isBelowAny, latin1Of, moveKeys } from "./paths.ts";
import { joinPeriods } from "./period.ts";
import { RecentInodes } from "./recent-inodes.ts";

/** The kind of entry that has a name: a folder, or anything else. */
export type Presence = "folder" | "entry" | "nothing";

type Stamped = Stamps | "missing";

/** A name that had events since it was last judged. */
interface Touched {
  /** Its path, one character per byte. */
  place: string;
  /** The entry that had the name before the first event. */
  readonly before: Presence;
  /** Whether the name was removed or assigned. */
  isReplaced: boolean;
  /** Whether the last of those events assigned it. */
  isThere?: boolean;
  /** Whether its comparison was put off, because the disk was ahead of the events. */
  isLate?: boolean;
  /** Whether a program wrote through a descriptor. Calls write into temporary files, so they never do. */
  isWritten: boolean;
  /** Whether the entry had any event but those of its names. */
  isAltered: boolean;
  /**
   * Whether the first folder of this name was removed after each entry in it, and stands after those in the
   * order of comparisons.
   */
  isEmptied?: boolean;
  /** The previous path of an entry that was moved here. */
  origin?: string | undefined;
  /** Whether that entry had its previous path before the first event. */
  isOfOrigin?: boolean;
  /** Whether the entry that had the name before the first event was moved away, and back. */
  isBack?: boolean;
  /** The commands that ran at its events, and the time when the last one was read, in milliseconds. */
  during: Period;
  time: number;
}

/** The entry that a call left under a name. */
interface Left {
  /** The stamps, or `undefined` if unknown: then whatever is there counts as left by the call. */
  readonly stamps: Stamped | undefined;
  /** The number of the last drain that began before the call left it. */
  readonly drain: number;
}

/** A name that is being judged. */
interface Judged {
  readonly path: string;
  readonly touched: Touched;
  readonly now: Stamped;
}

/** The outcome for a name. */
interface Verdict {
  readonly before: Presence;
  readonly after: Presence;
  readonly isMove: boolean;
  /** Whether a different entry has the name. */
  readonly isOther: boolean;
}

export interface ExternalChangesOptions {
  /** Returns the current stamps of the name. */
  readonly stampsAt: (place: string) => Stamped;
  /** Returns the kind of entry that the tree had there at the last drain. */
  readonly presenceAt: (place: string) => Presence;
  /** Returns whether the tree had a folder there at the last drain, and every change in it has an event. */
  readonly isWatchedAt: (place: string) => boolean;
  /** Returns whether a call is not done with the path yet, so that it is judged later. */
  readonly isHeld: (path: string) => boolean;
  /** Returns how many transactions are over. Until the next one is, a held path stays held. */
  readonly transactionsOver: () => number;
  /** Returns the commands that run now, as the events read so far say. */
  readonly period: () => Period;
  /** Returns the commands that have run since the last comparison of everything. */
  readonly latePeriod: () => Period;
  readonly onFound: (change: FoundChange) => void;
}

/**
 * Maximum names that are noted at once, maximum moves of folders, and maximum names that these moves
 * take along.
 */
const most = { names: 16_384, folderMoves: 64, movedNames: 65_536 } as const;

/** Names that moves of folders take along in one step of reading events, except for the last move. */
const movedAtOnce = 2048;

/** Names that are compared in one step, and the maximum with the other ends of their moves. */
const atOnce = 128;
const mostAtOnce = 512;

export class ExternalChanges {
  readonly #options: ExternalChangesOptions;
  #touched = new Map<string, Touched>();
  readonly #left = new Map<string, Left>();
  /**
   * The names that were held when they were last compared. They stand apart from `#touched`, so that a step
   * of a transaction does not compare again all names that earlier steps have touched.
   */
  readonly #held = new Map<string, Touched>();
  /** The names whose entries are gone again, although no event has said so. The next drain compares them. */
  readonly #late = new Map<string, Touched>();
  /** The keys of `#left` to be verified by the next drain, and those that wait for a transaction to end. */
  readonly #unverified = new Set<string>();
  readonly #heldLeft = new Set<string>();
  #transactionsOver = 0;
  /** The names whose entries were made and removed, among those that are being compared. */
  readonly #passing = new Set<string>();
  readonly #inodes = new RecentInodes(most.names);
  /** The path of the last event, which the next one often shares. */
  #lastPath: Buffer | undefined;
  #lastKey = "";
  #folderMoves = 0;
  #movedNames = 0;
  /** Their number when a step of reading events last ended with a move. */
  #movedBefore = 0;
  /** Whether a call removed a folder above, for folders above the names that are being compared. */
  readonly #isInRemovedFolder = new Map<string, boolean>();

  constructor(options: ExternalChangesOptions) {
    this.#options = options;
  }

  /** Whether more happened than can be noted. The changes are then unknown, and `clear` is due. */
  get isOverfull(): boolean {
    const touched = this.#touched.size + this.#held.size + this.#late.size;
    return (
      Math.max(touched, this.#left.size) > most.names ||
      this.#folderMoves > most.folderMoves ||
      this.#movedNames > most.movedNames
    );
  }

  /** Forgets all events, and the entries that calls left before the drain of this number. */
  clear(drain: number): void {
    this.#touched.clear();
    this.#held.clear();
    this.#late.clear();
    this.#passing.clear();
    this.#forgetMoves();
    for (const [path, left] of this.#left) if (left.drain < drain) this.#left.delete(path);
  }

  /** Notes the entry that a call left under a name. */
  leave(path: string, stamps: Stamped | undefined, drain: number): void {
    if (typeof stamps === "object") this.#inodes.set(stamps);
    this.#left.delete(path);
    this.#left.set(path, { stamps, drain });
    this.#heldLeft.delete(path);
    this.#unverified.add(path);
  }

  /** Notes that a call removed a folder with everything in it. */
  dropBelow(path: string): void {
    const prefix = `${path}/`;
    for (const map of [this.#touched, this.#held, this.#late, this.#left])
      for (const key of map.keys()) if (key.startsWith(prefix)) map.delete(key);
  }

  /** Notes that a folder was moved, so that the notes about names in it apply to other paths. */
  moveBelow(from: string, to: string): void {
    this.#folderMoves++;
    this.#releaseHeld();
    const cut = latin1Of(from).length;
    const [above, prefix] = [latin1Of(to), `${from}/`];
    moveKeys(this.#touched, [from, to], (touched) => {
      this.#movedNames++;
      touched.place = above + touched.place.slice(cut);
      // An entry from elsewhere is new in the folder.
      touched.origin = touched.origin?.startsWith(prefix)
        ? to + touched.origin.slice(from.length)
        : undefined;
    });
    moveKeys(this.#left, [from, to], (_, path, old) => {
      this.#movedNames++;
      this.#unverified.delete(old);
      this.#unverified.add(path);
    });
  }

  #forgetMoves(): void {
    this.#folderMoves = 0;
    this.#movedNames = 0;
    this.#movedBefore = 0;
  }

  /** Releases held names if another transaction has ended. */
  #releaseIfOver(): void {
    const over = this.#options.transactionsOver();
    if (over !== this.#transactionsOver) this.#releaseHeld();
    this.#transactionsOver = over;
  }

  /** Moves held names back to those that are checked next. */
  #releaseHeld(): void {
    this.#releaseLate();
    if (this.#held.size > 0) this.#touched = new Map([...this.#held, ...this.#touched]);
    this.#held.clear();
    for (const path of this.#heldLeft) this.#unverified.add(path);
    this.#heldLeft.clear();
  }

  #releaseLate(): void {
    if (this.#late.size > 0) this.#touched = new Map([...this.#late, ...this.#touched]);
    this.#late.clear();
  }

  /** Notes an event. Returns "long" for a move after which the step of reading events shall end. */
  add(change: TreeChange): "long" | undefined {
    if (this.isOverfull) return undefined;
    const { kind, isFolder, path, isMovedIn = false, isMovedOut = false, isOnlyClosed = false } = change;
    const what: Presence = isFolder ? "folder" : "entry";
    if (kind === "moved") {
      this.#addMove(change, what);
      if (this.#movedNames - this.#movedBefore < movedAtOnce) return undefined;
      this.#movedBefore = this.#movedNames;
      return "long";
    }
    // A name is free when an entry is created under it, even if the tree already has the entry: a new folder
    // is watched, then listed, and an entry made in between is in the listing and has an event.
    const beforeCreation = isMovedIn ? undefined : "nothing";
    const touched = this.#touch(path, kind === "created" ? beforeCreation : what);
    if (kind === "created" || kind === "removed") {
      if (kind === "removed" && isFolder && !isMovedOut) this.#noteEmptied(path.toString(), touched);
      Object.assign(touched, released, { isThere: kind === "created" });
      return undefined;
    }
    touched.isAltered = true;
    if (kind === "modified" && !isOnlyClosed) touched.isWritten = true;
    return undefined;
  }

  #noteEmptied(path: string, touched: Touched): void {
    const isFirst = touched.before === "folder" && !touched.isReplaced;
    if (!isFirst || !this.#options.isWatchedAt(touched.place)) return;
    touched.isEmptied = true;
    this.#touched.delete(path);
    this.#touched.set(path, touched);
  }

  #addMove({ isFolder, path, from: fromBytes }: TreeChange, what: Presence): void {
    const [from, to] = [fromBytes!.toString(), path.toString()];
    const source = this.#touch(fromBytes!, what);
    const target = this.#touch(path, undefined);
    const { isWritten, isAltered, origin = from } = source;
    const isOfOrigin = source.origin === undefined ? !source.isReplaced : source.isOfOrigin === true;
    const isBack = isOfOrigin && origin === to;
    const arrived = isBack ? { origin: undefined, isOfOrigin: false } : { origin, isOfOrigin };
    Object.assign(target, {
      during: joinPeriods(target.during, source.during),
      isReplaced: !isBack,
      isEmptied: false,
      isWritten,
      isAltered,
      isBack,
      isThere: true,
      ...arrived,
    });
    Object.assign(source, released, { isThere: false });
    if (isFolder) this.moveBelow(from, to);
  }

  /**
   * Notes that the path had an event. `before` is the entry that had the name, or `undefined` if the event
   * does not say.
   */
  #touch(path: Buffer, before: Presence | undefined): Touched {
    if (path !== this.#lastPath) [this.#lastPath, this.#lastKey] = [path, path.toString()];
    const key = this.#lastKey;
    const known = this.#touched.get(key) ?? this.#held.get(key) ?? this.#late.get(key);
    const period = this.#options.period();
    if (known !== undefined) {
      known.during = joinPeriods(known.during, period);
      known.time = Date.now();
      known.isLate = false;
      this.#held.delete(key);
      this.#late.delete(key);
      this.#touched.set(key, known);
      return known;
    }
    const place = path.toString("latin1");
    this.#passing.delete(key);
    const touched: Touched = {
      place,
      before: before ?? this.#options.presenceAt(place),
      isReplaced: false,
      isWritten: false,
      isAltered: false,
      during: period,
      time: Date.now(),
    };
    this.#touched.set(key, touched);
    return touched;
  }

  /** Reports what other programs have done to these names, which a call is about to change, and to others. */
  reconcileAt(paths: readonly string[]): void {
    this.#releaseIfOver();
    this.#compareNext(paths);
  }

  /**
   * Reports the changes of other programs. The events of calls that had returned before the drain of this
   * number have all been noted, so the entries left by them must still be there, and are forgotten.
   */
  *reconcile(drain: number): Steps<void> {
    this.#releaseIfOver();
    const compared = new Set<string>();
    // More events may be noted in the meantime, without end.
    for (let steps = 0; this.#touched.size > 0 && steps * atOnce < 2 * most.names; steps++) {
      for (const path of this.#compareNext([], true)) compared.add(path);
      yield;
    }
    yield* this.#verifyLeft(drain, compared);
    this.#releaseLate();
  }

  /**
   * Compares these names if they are noted, and those that were noted first, up to `atOnce`. If it `mayWait`,
   * it puts off those that must have another event. Returns all that were compared.
   */
  #compareNext(paths: readonly string[], mayWait = false): Iterable<string> {
    const { stampsAt, isHeld } = this.#options;
    const batch = this.#takeBatch(paths);
    if (this.#touched.size === 0) this.#forgetMoves();
    // Entries in these folders may be compared only later.
    for (const path of paths) if (batch.has(path)) batch.get(path)!.isEmptied = false;
    const held = new Set<string>();
    // A move is judged once neither end is held.
    for (const [path, { origin = path }] of batch)
      if (isHeld(path) || isHeld(origin)) held.add(path).add(origin);
    const judged = new Map<string, Judged>();
    for (const [path, touched] of batch) {
      if (held.has(path)) {
        this.#held.set(path, touched);
        continue;
      }
      const now = stampsAt(touched.place);
      judged.set(path, { path, touched, now });
    }
    if (mayWait) this.#putOff(judged);
    const sources = new Set<string>();
    for (const one of judged.values()) if (this.#isMove(one, judged)) sources.add(one.touched.origin!);
    for (const one of judged.values()) if (this.#isPassing(one)) this.#passing.add(one.path);
    // The folder may be among the names that are compared next.
    const later = new Map<string, boolean>();
    const inPassing = new Map<string, boolean>();
    const isPassing = (path: string): boolean => {
      if (this.#passing.has(path)) return true;
      const touched = this.#touched.get(path);
      if (touched === undefined) return false;
      const found = later.get(path) ?? this.#isPassing({ path, touched, now: stampsAt(touched.place) });
      later.set(path, found);
      return found;
    };
    this.#isInRemovedFolder.clear();
    for (const one of judged.values()) {
      const isInPassing = one.now === "missing" && isBelowAny(one.path, isPassing, inPassing);
      if (!sources.has(one.path) && !isInPassing) this.#judge(one, this.#isMove(one, judged));
    }
    // Readers know by the moves that these are gone, even if a call left them after the drain began.
    for (const path of sources) this.#settle(path, "missing");
    if (this.#touched.size === 0) this.#passing.clear();
    return judged.keys();
  }

  /** Takes out the names whose entries are gone although no event has said so, each with its origin. */
  #putOff(judged: Map<string, Judged>): void {
    const late = [...judged.values()].filter(
      ({ touched: { isThere, isLate }, now }) => isThere === true && !isLate && now === "missing",
    );
    for (const { path, touched } of late)
      for (const name of [path, touched.origin ?? path]) {
        const one = judged.get(name);
        if (one !== undefined) this.#late.set(name, { ...one.touched, isLate: true });
        judged.delete(name);
      }
  }

  /** Returns whether the entry was made, or moved here, and removed since the last comparison. */
  #isPassing(one: Judged): boolean {
    return one.now === "missing" && this.#before(one) === "nothing";
  }

  /** Takes these names, and those that were noted first, each with the other end of its move. */
  #takeBatch(paths: Iterable<string>): ReadonlyMap<string, Touched> {
    const touched = this.#touched;
    if (touched.size <= atOnce) {
      this.#touched = new Map();
      return touched;
    }
    const targets = new Map<string, string>();
    for (const [path, { origin }] of touched) if (origin !== undefined) targets.set(origin, path);
    const names = new Set(paths);
    for (const path of touched.keys()) if (names.add(path).size >= atOnce) break;
    const batch = new Map<string, Touched>();
    // A set can grow while it is read.
    for (const path of names) {
      const one = touched.get(path);
      if (one === undefined) continue;
      batch.set(path, one);
      touched.delete(path);
      // Names may form chains of any length. A move whose ends are compared apart is two other changes.
      for (const end of [one.origin, targets.get(path)])
        if (end !== undefined && names.size < mostAtOnce) names.add(end);
    }
    return batch;
  }

  /** Returns whether the entry was moved here, and no longer has its old name. */
  #isMove({ touched: { origin }, now }: Judged, judged: ReadonlyMap<string, Judged>): boolean {
    const source = origin === undefined ? undefined : judged.get(origin);
    return source?.now === "missing" && now !== "missing" && this.#before(source) !== "nothing";
  }

  /** Returns the entry that had the name, according to readers of the feed. */
  #before({ path, touched }: Pick<Judged, "path" | "touched">): Presence {
    const left = this.#left.get(path)?.stamps;
    return left === undefined ? touched.before : presenceOf(left);
  }

  #judge(one: Judged, isMove: boolean): void {
    const { path, touched, now } = one;
    const before = this.#before(one);
    const left = this.#left.get(path);
    const isExplained = left !== undefined && (left.stamps === undefined || isSame(left.stamps, now));
    if (isExplained && !touched.isWritten) return;
    if (now === "missing" && this.#isInRemoved(path)) return;
    const wasKnown = now !== "missing" && this.#inodes.has(now);
    this.#settle(path, now);
    const after = presenceOf(now);
    // The entry that a call left is not the one from before the first event.
    const isBack = touched.isBack === true && left === undefined;
    const isAsBefore = wasKnown || (isBack && !touched.isAltered);
    const isUnchanged = isAsBefore && !touched.isWritten && !touched.isReplaced;
    const isOther = isOtherThan(left?.stamps, now) ?? touched.isReplaced;
    if (!isUnchanged) this.#report(one, { before, after, isMove, isOther });
  }

  #report(
    { path, touched: { isWritten, origin, isEmptied, during, time } }: Judged,
    { before, after, isMove, isOther }: Verdict,
  ): void {
    const isFolder = after === "folder";
    const when = { during, time };
    const emptied = isEmptied && this.#held.size === 0 && !this.#left.has(path) && { isEmptied };
    if (isMove) {
      const isOverOther = before !== "nothing";
      this.#found({
        ...when,
        kind: "moved",
        path,
        from: origin!,
        isFolder,
        ...(isOverOther && { isOverOther }),
      });
      if (isWritten) this.#found({ ...when, kind: "modified", path, isFolder });
    } else if (before === "nothing" || after === "nothing") {
      if (before !== after)
        this.#found({
          ...when,
          kind: before === "nothing" ? "created" : "deleted",
          path,
          isFolder: isFolder || before === "folder",
          ...(after === "nothing" && emptied),
        });
    } else if (before !== after || (isFolder && isOther)) {
      // A different folder has the name, and nothing in it is the same.
      this.#found({ ...when, kind: "deleted", path, isFolder: before === "folder", ...emptied });
      this.#found({ ...when, kind: "created", path, isFolder });
    } else this.#found({ ...when, kind: "modified", path, isFolder });
  }

  #found(
    change: Pick<
      FoundChange,
      "kind" | "path" | "from" | "isFolder" | "isOverOther" | "isEmptied" | "during" | "time"
    >,
  ): void {
    this.#options.onFound({ ...change, cause: { by: "external" } });
  }

  /** Notes that readers know the current entry. */
  #settle(path: string, now: Stamped): void {
    if (now !== "missing") this.#inodes.set(now);
    const left = this.#left.get(path);
    if (left === undefined) return;
    if ((left.stamps === "missing") !== (now === "missing")) this.#isInRemovedFolder.clear();
    this.#left.set(path, { ...left, stamps: now });
  }

  /** Returns whether a call removed a folder above, which accounts for everything in it. */
  #isInRemoved(path: string): boolean {
    return isBelowAny(
      path,
      (folder) => this.#left.get(folder)?.stamps === "missing",
      this.#isInRemovedFolder,
    );
  }

  /**
   * Checks the entries that calls left. A new folder is watched only once a drain has found it, so earlier
   * changes in it have no event.
   */
  *#verifyLeft(drain: number, compared: ReadonlySet<string>): Steps<void> {
    const { stampsAt, isHeld } = this.#options;
    let count = 0;
    this.#isInRemovedFolder.clear();
    for (const path of this.#unverified) {
      if (++count % atOnce === 0) {
        yield;
        this.#isInRemovedFolder.clear();
      }
      const left = this.#left.get(path);
      if (left !== undefined && (left.drain >= drain || this.#late.has(path))) continue;
      this.#unverified.delete(path);
      if (left === undefined) continue;
      if (isHeld(path)) {
        this.#heldLeft.add(path);
        continue;
      }
      if (left.stamps !== undefined && !compared.has(path) && !this.#held.has(path)) {
        const place = latin1Of(path);
        const now = stampsAt(place);
        const before = presenceOf(left.stamps);
        const during = this.#options.latePeriod();
        const flags = { isReplaced: true, isWritten: false, isAltered: false };
        const touched = { place, before, ...flags, during, time: Date.now() };
        this.#judge({ path, touched, now }, false);
      }
      if (left.stamps === "missing") this.#isInRemovedFolder.clear();
      this.#left.delete(path);
    }
  }
}

/** The state of a name whose entry was removed, moved away or replaced by a new one. */
const released = {
  ...{ isReplaced: true, isWritten: false, isAltered: false },
  ...{ origin: undefined, isOfOrigin: false, isBack: false },
} as const;

const presenceOf = (stamps: Stamped): Presence => {
  if (stamps === "missing") return "nothing";
  return stamps.kind === "dir" ? "folder" : "entry";
};

const isSame = (one: Stamped, other: Stamped): boolean =>
  one === other ||
  (one !== "missing" && other !== "missing" && one.inode === other.inode && one.state === other.state);

/** Returns whether the entry differs from the one that a call left, or `undefined` if that is unknown. */
const isOtherThan = (left: Stamped | undefined, now: Stamped): boolean | undefined =>
  typeof left === "object" && typeof now === "object" ? left.inode !== now.inode : undefined;
