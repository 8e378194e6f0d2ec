/**
 * Finds the changes of a watched tree that other programs have made. An event of the kernel says only that something
 * happened to a name: what is there then is compared with what a call, or the last change that was found, left there.
 */
import type { Stamps } from "../jail/statx.ts";
import type { TreeChange } from "../watch/tree.ts";
import type { FoundChange } from "./change.ts";
import { latin1Of, movedKeys } from "./paths.ts";
import { RecentInodes } from "./recent-inodes.ts";

/** What has a name: a folder, or anything else. */
export type Presence = "folder" | "entry" | "nothing";

type Stamped = Stamps | "missing";

/** A name about which there were events since the last time. */
interface Touched {
  /** Its path, one character per byte. */
  readonly place: string;
  /** What had the name before the first of them. */
  readonly before: Presence;
  /** The name was taken away or assigned. */
  isReplaced: boolean;
  /** A program wrote through a descriptor. Calls write into temporary files, and never do. */
  isWritten: boolean;
  /** The path that what was moved here had before. */
  origin?: string | undefined;
}

/** What a call left under a name. */
interface Left {
  /** Undefined where that is not known, and is taken to be what is there. */
  readonly stamps: Stamped | undefined;
  /** The drain that began last before that. */
  readonly drain: number;
}

/** A name that is judged. */
interface Judged {
  readonly path: string;
  readonly touched: Touched;
  readonly now: Stamped;
}

/** What became of a name. */
interface Verdict {
  readonly before: Presence;
  readonly after: Presence;
  readonly isMove: boolean;
  /** Another entry has the name. */
  readonly isOther: boolean;
}

export interface ExternalChangesOptions {
  /** What has the name now. */
  readonly stampsAt: (place: string) => Stamped;
  /** What the tree had there when it was drained last. */
  readonly presenceAt: (place: string) => Presence;
  /** Whether a call is not done with the path yet: then it is judged later. */
  readonly isHeld: (path: string) => boolean;
  readonly onFound: (change: FoundChange) => void;
}

/** Most names that are noted at once; and most moves of folders, each of which goes through all names. */
const most = { names: 16_384, folderMoves: 64 } as const;

export class ExternalChanges {
  readonly #options: ExternalChangesOptions;
  #touched = new Map<string, Touched>();
  #left = new Map<string, Left>();
  readonly #inodes = new RecentInodes(most.names);
  #folderMoves = 0;

  constructor(options: ExternalChangesOptions) {
    this.#options = options;
  }

  /** Whether there was more than is noted. Then the changes are not known, and `clear` is due. */
  get isOverfull(): boolean {
    const { names, folderMoves } = most;
    return this.#touched.size > names || this.#left.size > names || this.#folderMoves > folderMoves;
  }

  /** Forgets all events, and what calls left before the drain of this number. */
  clear(drain: number): void {
    this.#touched.clear();
    this.#folderMoves = 0;
    for (const [path, left] of this.#left) if (left.drain < drain) this.#left.delete(path);
  }

  /** Notes what a call left under a name. */
  leave(path: string, stamps: Stamped | undefined, drain: number): void {
    if (typeof stamps === "object") this.#inodes.set(stamps);
    this.#left.delete(path);
    this.#left.set(path, { stamps, drain });
  }

  /** Notes that a call took a folder away with everything in it. */
  dropBelow(path: string): void {
    for (const map of [this.#touched, this.#left])
      for (const key of map.keys()) if (key.startsWith(`${path}/`)) map.delete(key);
  }

  /** Notes that a folder was moved: what was noted of names in it is about other paths now. */
  moveBelow(from: string, to: string): void {
    this.#folderMoves++;
    const cut = latin1Of(from).length;
    this.#touched = movedKeys(this.#touched, [from, to], (touched) => ({
      ...touched,
      place: latin1Of(to) + touched.place.slice(cut),
      origin: undefined,
    }));
    this.#left = movedKeys(this.#left, [from, to], (left) => left);
  }

  /** Notes an event. */
  add(change: TreeChange): void {
    if (this.isOverfull) return;
    const { kind, isFolder, path, isMovedIn = false, isOnlyClosed = false } = change;
    const what: Presence = isFolder ? "folder" : "entry";
    if (kind === "moved") {
      this.#addMove(change, what);
      return;
    }
    // A name is free when something is made under it, though the tree may have it by then: a folder that is new is watched,
    // and then listed, and what is made in it between the two is in the listing and has an event.
    const beforeCreation = isMovedIn ? undefined : "nothing";
    const touched = this.#touch(path, kind === "created" ? beforeCreation : what);
    if (kind === "created" || kind === "removed")
      Object.assign(touched, { isReplaced: true, isWritten: false, origin: undefined });
    else if (kind === "modified" && !isOnlyClosed) touched.isWritten = true;
  }

  #addMove({ isFolder, path, from: fromBytes }: TreeChange, what: Presence): void {
    const [from, to] = [fromBytes!.toString(), path.toString()];
    const source = this.#touch(fromBytes!, what);
    const target = this.#touch(path, undefined);
    const origin = source.origin ?? from;
    Object.assign(target, { isReplaced: true, isWritten: source.isWritten, origin });
    Object.assign(source, { isReplaced: true, isWritten: false, origin: undefined });
    if (isFolder) this.moveBelow(from, to);
  }

  /** `before`: what had the name before the event; undefined where the event does not say that. */
  #touch(path: Buffer, before: Presence | undefined): Touched {
    const key = path.toString();
    const known = this.#touched.get(key);
    if (known !== undefined) return known;
    const place = path.toString("latin1");
    const touched: Touched = {
      place,
      before: before ?? this.#options.presenceAt(place),
      isReplaced: false,
      isWritten: false,
    };
    this.#touched.set(key, touched);
    return touched;
  }

  /**
   * Reports what other programs changed. The events of calls that had returned before the drain of this number have all been
   * noted: what those left has to be there still, and is forgotten.
   */
  reconcile(drain: number): void {
    const { stampsAt, isHeld } = this.#options;
    const judged = new Map<string, Judged>();
    for (const [path, touched] of this.#touched)
      judged.set(path, { path, touched, now: stampsAt(touched.place) });
    this.#touched = new Map();
    this.#folderMoves = 0;
    const held = ({ path, touched }: Judged) =>
      isHeld(path) || (touched.origin !== undefined && isHeld(touched.origin));
    const origins = new Map<string, Judged>();
    for (const one of judged.values()) if (this.#isMove(one, judged)) origins.set(one.touched.origin!, one);
    for (const one of judged.values()) {
      const target = origins.get(one.path);
      if (held(one) || (target !== undefined && held(target))) this.#touched.set(one.path, one.touched);
      else if (target === undefined) this.#judge(one, this.#isMove(one, judged));
    }
    this.#verifyLeft(drain, judged);
  }

  /** Whether what is there now was moved there, and has its old name no more. */
  #isMove({ touched: { origin }, now }: Judged, judged: ReadonlyMap<string, Judged>): boolean {
    const source = origin === undefined ? undefined : judged.get(origin);
    return source?.now === "missing" && now !== "missing" && this.#before(source) !== "nothing";
  }

  /** What had the name, as readers of the feed know. */
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
    const isUnchanged = wasKnown && !touched.isWritten && !touched.isReplaced;
    const isOther = isOtherThan(left?.stamps, now) ?? touched.isReplaced;
    if (!isUnchanged) this.#report(one, { before, after, isMove, isOther });
  }

  #report(
    { path, touched: { isWritten, origin } }: Judged,
    { before, after, isMove, isOther }: Verdict,
  ): void {
    const isFolder = after === "folder";
    if (isMove) {
      this.#found({ kind: "moved", path, from: origin!, isFolder });
      if (isWritten) this.#found({ kind: "modified", path, isFolder });
    } else if (before === "nothing" || after === "nothing") {
      if (before !== after)
        this.#found({
          kind: before === "nothing" ? "created" : "deleted",
          path,
          isFolder: isFolder || before === "folder",
        });
    } else if (before !== after || (isFolder && isOther)) {
      // Another folder has the name: nothing in it is what it was.
      this.#found({ kind: "deleted", path, isFolder: before === "folder" });
      this.#found({ kind: "created", path, isFolder });
    } else this.#found({ kind: "modified", path, isFolder });
  }

  #found(change: Pick<FoundChange, "kind" | "path" | "from" | "isFolder">): void {
    this.#options.onFound({ ...change, cause: { by: "external" } });
  }

  /** Notes that readers know what is there now. */
  #settle(path: string, now: Stamped): void {
    if (now !== "missing") this.#inodes.set(now);
    const left = this.#left.get(path);
    if (left !== undefined) this.#left.set(path, { ...left, stamps: now });
  }

  /** Whether a call took a folder above away, which counts for what was in it. */
  #isInRemoved(path: string): boolean {
    for (let slash = path.indexOf("/"); slash >= 0; slash = path.indexOf("/", slash + 1))
      if (this.#left.get(path.slice(0, slash))?.stamps === "missing") return true;
    return false;
  }

  /** A folder that is new is watched only when a drain has found it: what happened in it before has no event. */
  #verifyLeft(drain: number, judged: ReadonlyMap<string, Judged>): void {
    const { stampsAt, isHeld } = this.#options;
    for (const [path, left] of this.#left) {
      if (left.drain >= drain || isHeld(path)) continue;
      if (left.stamps !== undefined && !judged.has(path)) {
        const place = latin1Of(path);
        const now = stampsAt(place);
        const touched = { place, before: presenceOf(left.stamps), isReplaced: true, isWritten: false };
        this.#judge({ path, touched, now }, false);
      }
      this.#left.delete(path);
    }
  }
}

const presenceOf = (stamps: Stamped): Presence => {
  if (stamps === "missing") return "nothing";
  return stamps.kind === "dir" ? "folder" : "entry";
};

const isSame = (one: Stamped, other: Stamped): boolean =>
  one === other ||
  (one !== "missing" && other !== "missing" && one.inode === other.inode && one.state === other.state);

/** Whether the entry is another than that which a call left; undefined where that is not known. */
const isOtherThan = (left: Stamped | undefined, now: Stamped): boolean | undefined =>
  typeof left === "object" && typeof now === "object" ? left.inode !== now.inode : undefined;
