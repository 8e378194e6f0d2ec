/**
 * An earlier state of the tree, made in memory by taking back records of the journal and changes of the feed,
 * the newest first, over the tree on disk.
 */
import type { Cause, FeedChange } from "../../filesystem/feed/change.ts";
import type { KnownFile } from "../../filesystem/feed/known-contents.ts";
import { revisionOfBytes } from "../../filesystem/files/revision.ts";
import type { RecordedState } from "../../filesystem/journal/frame.ts";
import type { RestoredTree, TreeState } from "../../filesystem/journal/restored-tree.ts";
import { Credit } from "./credit.ts";

/** Reads the tree on disk by paths from the base, without following links. */
export interface CurrentTree {
  /** Returns the state of a path, for a file too large to hash at once with an empty revision. */
  state(path: string): TreeState;
  /**
   * Returns the state of a path, after hashing a large file in slices. A file with the identity `unhashed` is
   * not hashed.
   */
  stateInSlices(path: string, unhashed?: string): TreeState | Promise<TreeState>;
  read(path: string): ReadContent;
}

/** The content of a file; `undefined` if it cannot be read. */
export type ReadContent = Buffer | "too-large" | undefined;

/** An entry of the earlier tree. */
export type RewoundEntry = {
  /** The path of the same entry on disk, if it still exists. */
  readonly now: string | undefined;
  /** The authors of its changes, also of its name. */
  readonly credit: Credit;
} & (
  | { readonly kind: "absent" }
  /** The entry itself is on disk, perhaps with another mode. */
  | { readonly kind: "disk"; readonly mode?: number | undefined }
  | KeptEntry
  /** Something was there, and its state is not kept. */
  | { readonly kind: "unknown"; readonly isFolder: boolean }
  /** An entry of an unknown folder, if it had one of this name. */
  | { readonly kind: "unsure" }
);

type KeptEntry =
  | { readonly kind: "file"; readonly content: Buffer; readonly mode: number }
  | { readonly kind: "symlink"; readonly text: Buffer }
  | { readonly kind: "dir"; readonly mode: number };

export class RewoundTree implements RestoredTree {
  readonly #disk: CurrentTree;
  readonly #pause: () => Promise<void>;
  readonly #entries = new Map<string, RewoundEntry>();
  /** By folder: the paths in it that have had an entry, or a path below them. */
  readonly #inside = new Map<string, Set<string>>();
  readonly #created = new Map<string, Credit>();
  /** The paths on disk of entries that came with a folder that a program made or moved here. */
  readonly #brought = new Set<string>();
  /** The record or the cause whose change is being taken back. */
  #by: number | Cause = 0;

  /** `pause` lets other calls run. It is called after each entry of a folder. */
  constructor(disk: CurrentTree, pause: () => Promise<void>) {
    this.#disk = disk;
    this.#pause = pause;
  }

  /** The entries that differ from those of the same path on disk, by their earlier paths. */
  get entries(): ReadonlyMap<string, RewoundEntry> {
    return this.#entries;
  }

  /** The paths on disk of entries that did not exist, with those who made them. */
  get created(): ReadonlyMap<string, Credit> {
    return this.#created;
  }

  /** Returns whether an entry came with a folder that took the place of one whose contents are not kept. */
  isUnsure(path: string): boolean {
    return this.#brought.has(path) && this.entryAt(path).kind === "unsure";
  }

  /** Returns whether something was at a path whose state is not kept. */
  isUnknown(path: string): boolean {
    return this.entryAt(path).kind === "unknown";
  }

  /** Begins to take back the record of this number. */
  beginRecord(seq: number): void {
    this.#by = seq;
  }

  /** Notes that a record left an entry of this kind at a path, unless one is known to be there. */
  meet(path: string, { kind }: RecordedState): void {
    const { kind: found, credit } = this.entryAt(path);
    if (kind !== "absent" && (found === "absent" || found === "unsure"))
      this.#set(path, { kind: "unknown", isFolder: kind === "dir", now: undefined, credit });
  }

  /** Notes a path whose earlier state is not kept. */
  lose(path: string): void {
    const entry = this.entryAt(path);
    const isFolder = entry.kind === "unknown" ? entry.isFolder : this.state(path).kind === "dir";
    this.#set(path, { kind: "unknown", isFolder, ...this.#changed(path) });
  }

  /**
   * Takes back a change that no record has. `knownBefore` returns the file that it modified, moved or
   * removed, if a call had seen that.
   */
  async takeBack(
    { kind, path, from, isFolder, isOverOther = false, isEmptied = false, cause }: FeedChange,
    knownBefore: (path: string) => KnownFile | undefined,
  ): Promise<void> {
    this.#by = cause;
    if (kind === "created") await this.#removeMade(path);
    else if (isEmptied) await this.#restoreFolder(path);
    else if (from === undefined) await this.#restore(path, isFolder, knownBefore(path));
    else {
      await this.move(path, from);
      // The file may have been written to while it was moved.
      if (!isFolder) await this.#restore(from, isFolder, knownBefore(from));
      if (isOverOther) await this.#restore(path, isFolder, knownBefore(path));
    }
  }

  /** Returns the entry of an earlier path. */
  entryAt(path: string): RewoundEntry {
    const own = this.#entries.get(path);
    if (own !== undefined) return own;
    for (let slash = path.lastIndexOf("/"); slash > 0; slash = path.lastIndexOf("/", slash - 1)) {
      const above = this.#entries.get(path.slice(0, slash));
      if (above === undefined) continue;
      if (above.kind === "disk")
        return { kind: "disk", now: `${above.now}${path.slice(slash)}`, credit: Credit.none };
      if (above.kind === "unknown" && above.isFolder)
        return { kind: "unsure", now: undefined, credit: above.credit };
      return { kind: "absent", now: undefined, credit: Credit.none };
    }
    return { kind: "disk", now: path, credit: Credit.none };
  }

  state(path: string): TreeState {
    const entry = this.entryAt(path);
    switch (entry.kind) {
      case "absent":
      case "unsure":
        return { kind: "absent" };
      case "unknown":
        return { kind: "other" };
      case "disk":
        return withMode(this.#disk.state(entry.now!), entry.mode);
      case "file":
        return { kind: "file", mode: entry.mode, revision: revisionOfBytes([entry.content]) };
      case "symlink":
        return { kind: "symlink", text: entry.text };
      case "dir":
        return { kind: "dir", mode: entry.mode };
    }
  }

  async stateInSlices(path: string, unhashed?: string): Promise<TreeState> {
    const entry = this.entryAt(path);
    if (entry.kind !== "disk") return this.state(path);
    return withMode(await this.#disk.stateInSlices(entry.now!, unhashed), entry.mode);
  }

  /** Returns the content of an earlier file. */
  contentAt(path: string): ReadContent {
    const entry = this.entryAt(path);
    if (entry.kind === "file") return entry.content;
    return entry.kind === "disk" ? this.#disk.read(entry.now!) : undefined;
  }

  /** Finds none: to the view of the disk, nothing is below a link. */
  linkAbove(): undefined {
    return undefined;
  }

  nonFolderAbove(): undefined {
    return undefined;
  }

  entryIn(): undefined {
    return undefined;
  }

  isRespelling(): boolean {
    return false;
  }

  async putFile(path: string, content: Buffer, { mode }: { readonly mode: number }): Promise<void> {
    this.#put(path, { kind: "file", content, mode });
  }

  async putLink(path: string, text: Buffer): Promise<void> {
    this.#put(path, { kind: "symlink", text });
  }

  async makeFolder(path: string, mode: number): Promise<void> {
    this.#put(path, { kind: "dir", mode });
  }

  inRemade(): RestoredTree {
    return this;
  }

  async remove(path: string): Promise<void> {
    const entry = this.entryAt(path);
    const credit = entry.credit.with(this.#by);
    this.#noteCreated({ ...entry, credit });
    await this.#clearBelow(path);
    this.#set(path, { kind: "absent", now: undefined, credit });
  }

  async move(from: string, to: string): Promise<void> {
    if (this.entryAt(to).kind !== "absent") await this.remove(to);
    const entry = this.entryAt(from);
    const isThere = entry.kind !== "absent" && entry.kind !== "unsure";
    const below = await this.#below(from);
    for (const [path] of below) {
      this.#entries.delete(path);
      await this.#pause();
    }
    const credit = entry.credit.with(this.#by);
    if (isThere) this.#set(to, { ...entry, credit });
    else this.#set(to, { kind: "unknown", isFolder: false, now: undefined, credit });
    for (const [path, inside] of below) {
      this.#set(`${to}${path.slice(from.length)}`, inside);
      await this.#pause();
    }
    this.#set(from, { kind: "absent", now: undefined, credit: Credit.none.with(this.#by) });
  }

  async setMode(path: string, mode: number): Promise<void> {
    const entry = this.entryAt(path);
    const isKept = entry.kind === "disk" || entry.kind === "file" || entry.kind === "dir";
    const credit = entry.credit.with(this.#by);
    if (isKept) this.#set(path, { ...entry, mode, credit });
    else if (entry.kind === "unknown") this.#set(path, { ...entry, credit });
  }

  /**
   * Removes an entry that a program made, and keeps its path on disk: if a program removed a file there
   * before, the entry is that file, brought back.
   */
  async #removeMade(path: string): Promise<void> {
    const { now } = this.entryAt(path);
    for (const [, inside] of await this.#below(path)) {
      if (inside.kind !== "absent" && inside.now !== undefined) this.#brought.add(inside.now);
      await this.#pause();
    }
    await this.remove(path);
    if (this.#isOnDisk(now)) this.#set(path, { ...this.entryAt(path), now });
  }

  /** Restores an entry that a change without a record has modified or removed. */
  async #restore(path: string, isFolder: boolean, known: KnownFile | undefined): Promise<void> {
    if (known !== undefined && this.#isAsNow(path, known)) this.#keep(path);
    else if (known !== undefined) this.#put(path, { kind: "file", ...known });
    else {
      // Keeps entries that later changes name: they were in the folder, and the feed may report them before
      // or after it.
      await this.#clearBelow(path, isFolder ? "absent" : undefined);
      this.#set(path, { kind: "unknown", isFolder, ...this.#changed(path) });
    }
  }

  /** Restores a removed folder, with the entries that later changes name. */
  async #restoreFolder(path: string): Promise<void> {
    const found = this.#disk.state(path);
    // Its earlier mode is not kept.
    const mode = found.kind === "dir" ? found.mode : defaultMode;
    await this.#clearBelow(path, "absent");
    this.#set(path, { kind: "dir", mode, ...this.#changed(path) });
  }

  /** Returns whether a file is now, under its own path, exactly what it was. */
  #isAsNow(path: string, { content, mode }: KnownFile): boolean {
    const { now = path } = this.entryAt(path);
    const state = now === path ? this.#disk.state(path) : undefined;
    const isAlike = state?.kind === "file" && state.mode === mode;
    return isAlike && state.revision === revisionOfBytes([content]);
  }

  /** Notes that the changes taken back so far have cancelled each other, so that none gets credit. */
  #keep(path: string): void {
    this.#created.delete(path);
    this.#set(path, { kind: "disk", now: path, credit: Credit.none });
  }

  /** Replaces the entry at a path. If that still exists, the new one is an earlier state of it. */
  #put(path: string, entry: KeptEntry): void {
    this.#set(path, { ...entry, ...this.#changed(path) });
  }

  #changed(path: string): Pick<RewoundEntry, "now" | "credit"> {
    const { kind, now, credit } = this.entryAt(path);
    // A file that a program made where a call had deleted one is another file.
    const isOther = kind === "absent" && typeof this.#by === "number";
    return { now: this.#isOnDisk(now) && !isOther ? now : undefined, credit: credit.with(this.#by) };
  }

  #noteCreated({ now, credit }: RewoundEntry): void {
    if (this.#isOnDisk(now)) this.#created.set(now, credit.and(this.#created.get(now)));
  }

  #isOnDisk = (now: string | undefined): now is string =>
    now !== undefined && this.#disk.state(now).kind !== "absent";

  /** Forgets the entries below a path, all or those of one kind. */
  async #clearBelow(folder: string, kind?: RewoundEntry["kind"]): Promise<void> {
    for (const [path, entry] of await this.#below(folder)) {
      if (kind === undefined || entry.kind === kind) {
        this.#noteCreated(entry);
        this.#entries.delete(path);
      }
      await this.#pause();
    }
  }

  async #below(folder: string): Promise<(readonly [path: string, RewoundEntry])[]> {
    const found: (readonly [path: string, RewoundEntry])[] = [];
    const folders = [folder];
    for (let at = folders.pop(); at !== undefined; at = folders.pop())
      for (const path of this.#inside.get(at) ?? []) {
        const entry = this.#entries.get(path);
        if (entry !== undefined) found.push([path, entry]);
        folders.push(path);
        await this.#pause();
      }
    return found;
  }

  #set(path: string, entry: RewoundEntry): void {
    if (!this.#entries.has(path)) this.#noteInside(path);
    this.#entries.set(path, entry);
  }

  /** Notes a path in its folder, and each folder above that is new in its own. */
  #noteInside(path: string): void {
    let inner = path;
    for (let slash = inner.lastIndexOf("/"); slash > 0; slash = inner.lastIndexOf("/")) {
      const folder = inner.slice(0, slash);
      const inside = this.#inside.get(folder);
      if (inside !== undefined) return void inside.add(inner);
      this.#inside.set(folder, new Set([inner]));
      inner = folder;
    }
  }
}

const defaultMode = 0o755;

const withMode = (state: TreeState, mode: number | undefined): TreeState =>
  mode !== undefined && (state.kind === "file" || state.kind === "dir") ? { ...state, mode } : state;
