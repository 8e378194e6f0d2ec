import { mergeSort } from "../../base/scheduling/merge-sort.ts";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { listAtOnce } from "../jail/backend.ts";
import type { OnDirent } from "../jail/dirents.ts";
import { refusalOfErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { type NameBytes, nameOf } from "../jail/name.ts";
import { ignoreVanished } from "./ignore-vanished.ts";
import { Smallest } from "./smallest.ts";
import type { Entry } from "./types.ts";

/** Returns whether an entry is wanted. Many file systems do not report the kind when a folder is read. */
export type WantsEntry = (name: NameBytes, kind: EntryKind | undefined) => boolean;

/**
 * Reads the entries of a folder, including temporary files, sorted by the bytes of their names; only those
 * that are wanted, if `wants` is given. Throws a `Refusal`.
 */
export function readEntries(folder: Folder, wants?: WantsEntry): Steps<Entry[]> {
  return refusingAll(folder, readAll(folder, wants));
}

/**
 * Reads the entries that are not left out, sorted as by `readEntries`, if they are at most `most`. Returns
 * `undefined` if they are more, without reading all of them. Throws a `Refusal`.
 */
export function readFewEntries(
  folder: Folder,
  { most, isLeftOut }: { readonly most: number; readonly isLeftOut: (name: string) => boolean },
): Entry[] | undefined {
  return runAtOnce(refusingAll(folder, readFew(folder, most, isLeftOut)));
}

function* readFew(
  folder: Folder,
  most: number,
  isLeftOut: (name: string) => boolean,
): Steps<Entry[] | undefined> {
  const dirents: Dirent[] = [];
  const listing = folder.list((bytes, from, to, kind) => {
    const dirent = direntOf({ bytes, from, to }, kind);
    if (dirents.length <= most && !isLeftOut(dirent.name)) dirents.push(dirent);
  });
  for (const _ of listing) if (dirents.length > most) break;
  if (dirents.length > most) return undefined;
  return yield* entriesOf(folder, dirents.sort(byKey));
}

/**
 * The entries of a folder to read: those that are not left out, from one index up to, but not including,
 * another.
 */
export interface Window {
  readonly from: number;
  readonly to: number;
  isLeftOut(name: string): boolean;
  /** Leaves out more entries, without reporting them as left out. */
  readonly omits?: OmitsEntry | undefined;
}

/** The number of names that a listing reports in one step, with quick checks of names. */
const manyNames = 256;

/** Decides which entries to omit. */
export interface OmitsEntry {
  omits(name: NameBytes, kind: EntryKind): boolean;
  /** Maximum names that it takes in one step. */
  readonly perStep: number;
}

export interface EntriesInWindow {
  readonly entries: Entry[];
  /** The number of entries that are not left out, in the window or not. */
  readonly total: number;
  readonly leftOut: Entry[];
}

/**
 * Reads some of the `readEntries`: at once if that takes one step, else it returns the remaining steps.
 * Entries outside the window cost little more than their names. Throws a `Refusal`.
 */
export function readWindow(folder: Folder, window: Window): EntriesInWindow | Steps<EntriesInWindow> {
  const collector = new WindowCollector(folder, window);
  try {
    const rest = listAtOnce(folder, collector.onDirent);
    const found = rest === undefined ? collector.few() : undefined;
    return found ?? refusingAll(folder, collector.collect(rest));
  } catch (error) {
    throw refusalOfErrno(error, folder.requested);
  }
}

function* refusingAll<T>(folder: Folder, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    throw refusalOfErrno(error, folder.requested);
  }
}

function* readAll(folder: Folder, wants: WantsEntry = () => true): Steps<Entry[]> {
  const dirents: Dirent[] = [];
  yield* folder.list((bytes, from, to, kind) => {
    const name = { bytes, from, to };
    if (wants(name, kind)) dirents.push(direntOf(name, kind));
  });
  return yield* entriesOf(folder, yield* mergeSort(dirents, isBefore));
}

class WindowCollector {
  readonly #folder: Folder;
  readonly #window: Window;
  readonly #first: Smallest<Dirent>;
  readonly #leftOut: Dirent[] = [];
  /** The entries that may be omitted, if that takes long to find out. */
  #unchecked: Dirent[] = [];
  #total = 0;

  constructor(folder: Folder, window: Window) {
    this.#folder = folder;
    this.#window = window;
    this.#first = new Smallest(window.to, isBefore);
  }

  readonly onDirent: OnDirent = (bytes, from, to, kind) => {
    const { isLeftOut, omits } = this.#window;
    const name = { bytes, from, to };
    const dirent = direntOf(name, kind);
    if (isLeftOut(dirent.name)) this.#leftOut.push({ ...dirent, kind: kind ?? "other" });
    else if (omits !== undefined && omits.perStep < manyNames) this.#unchecked.push(dirent);
    else this.#check(dirent, name);
  };

  #check(dirent: Dirent, name: NameBytes): void {
    const { omits } = this.#window;
    const kindOf = () => dirent.kind ?? kindIn(this.#folder, name.bytes.subarray(name.from, name.to));
    if (omits?.omits(name, kindOf()) === true) return;
    this.#total++;
    this.#first.add(dirent);
  }

  *#checkRest(): Steps<void> {
    const unchecked = this.#unchecked;
    this.#unchecked = [];
    for (const [index, dirent] of unchecked.entries()) {
      const bytes = Buffer.from(dirent.key, "latin1");
      this.#check(dirent, { bytes, from: 0, to: bytes.length });
      if (index % this.#window.omits!.perStep === 0) yield;
    }
  }

  /** Returns the findings if they are few. */
  few(): EntriesInWindow | undefined {
    if (this.#unchecked.length > 0) return undefined;
    const window = this.#first.fewInOrder();
    const entries = window && fewEntriesOf(this.#folder, this.#inWindow(window));
    const leftOut = entries && fewEntriesOf(this.#folder, this.#leftOut);
    return leftOut && { entries: entries!, total: this.#total, leftOut };
  }

  /** Returns the findings after the rest of the listing. */
  *collect(rest: Iterable<void> = []): Steps<EntriesInWindow> {
    for (const _ of rest) {
      yield* this.#checkRest();
      yield* this.#first.trim();
      yield;
    }
    yield* this.#checkRest();
    const window = this.#inWindow(yield* this.#first.inOrder());
    return {
      entries: yield* entriesOf(this.#folder, window),
      total: this.#total,
      leftOut: yield* entriesOf(this.#folder, this.#leftOut),
    };
  }

  #inWindow(sorted: readonly Dirent[]): readonly Dirent[] {
    return this.#window.from === 0 ? sorted : sorted.slice(this.#window.from);
  }
}

/** An entry, as the system reports it. */
interface Dirent {
  /** The name with one character per byte. Such strings sort fast, and by bytes. */
  readonly key: string;
  /** The name as text; the same string if it is ASCII. */
  readonly name: string;
  readonly kind: EntryKind | undefined;
}

function direntOf({ bytes, from, to }: NameBytes, kind: EntryKind | undefined): Dirent {
  const key = bytes.toString("latin1", from, to);
  for (let at = from; at < to; at++)
    if (bytes[at]! >= 0x80) return { key, name: bytes.toString("utf8", from, to), kind };
  return { key, name: key, kind };
}

/** Compares entries in byte order, since the code units of these keys are the bytes. */
const isBefore = (one: Dirent, other: Dirent): boolean => one.key < other.key;
const byKey = (one: Dirent, other: Dirent): number => (isBefore(one, other) ? -1 : 1);

/** Entries per step, each of which may need a stat. */
const entriesPerStep = 512;

/** Returns the kind of an entry, for file systems that do not report kinds when a folder is read. */
export const kindIn = (folder: Folder, name: Buffer): EntryKind =>
  ignoreVanished(() => kindOf(folder.lstat(nameOf(name)))) ?? "other";

/** Like `entriesOf`, but at once if the entries fit into one step. */
function fewEntriesOf(folder: Folder, dirents: readonly Dirent[]): Entry[] | undefined {
  if (dirents.length > entriesPerStep) return undefined;
  return dirents.map((dirent) => entryOf(folder, dirent));
}

function* entriesOf(folder: Folder, dirents: readonly Dirent[]): Steps<Entry[]> {
  const entries: Entry[] = [];
  for (const dirent of dirents) {
    entries.push(entryOf(folder, dirent));
    if (entries.length % entriesPerStep === 0) yield;
  }
  return entries;
}

function entryOf(folder: Folder, { key, name, kind }: Dirent): Entry {
  const raw = name === key ? name : nameOf(Buffer.from(key, "latin1"));
  return { name, raw, kind: kind ?? kindOf(folder.lstat(raw)) ?? "other" };
}
