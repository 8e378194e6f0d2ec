import { refusalOfErrno } from "../jail/errno.ts";
import type { Folder } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { type NameBytes, nameOf } from "../jail/name.ts";
import { mergeSort } from "../scheduling/merge-sort.ts";
import type { Steps } from "../scheduling/time-slice.ts";
import { ignoreVanished } from "./ignore-vanished.ts";
import { Smallest } from "./smallest.ts";
import type { Entry } from "./types.ts";

/** The entries of a folder, temporary files too, sorted by the bytes of their names. Throws a `Refusal`. */
export function readEntries(folder: Folder): Steps<Entry[]> {
  return refusingAll(folder, readAll(folder));
}

/** Which entries of a folder to read: those that are not left out, from one index up to, not including, another. */
export interface Window {
  readonly from: number;
  readonly to: number;
  isLeftOut(name: string): boolean;
  /** Leaves out more, which is not reported as left out. */
  readonly omits?: OmitsEntry | undefined;
}

/** Whether to omit the entry with this name. */
export type OmitsEntry = (name: NameBytes, kind: EntryKind) => boolean;

export interface EntriesInWindow {
  readonly entries: Entry[];
  /** Entries that are not left out, in the window or not. */
  readonly total: number;
  readonly leftOut: Entry[];
}

/** Some of `readEntries`. Those outside the window cost little more than their names. Throws a `Refusal`. */
export function readWindow(folder: Folder, window: Window): Steps<EntriesInWindow> {
  return refusingAll(folder, readPart(folder, window));
}

function* refusingAll<T>(folder: Folder, steps: Steps<T>): Steps<T> {
  try {
    return yield* steps;
  } catch (error) {
    throw refusalOfErrno(error, folder.requested);
  }
}

function* readAll(folder: Folder): Steps<Entry[]> {
  const dirents: Dirent[] = [];
  yield* folder.list((bytes, from, to, kind) => dirents.push(direntOf({ bytes, from, to }, kind)));
  return yield* entriesOf(folder, yield* mergeSort(dirents, isBefore));
}

function* readPart(folder: Folder, { from, to, isLeftOut, omits }: Window): Steps<EntriesInWindow> {
  const first = new Smallest<Dirent>(to, isBefore);
  const leftOut: Dirent[] = [];
  let total = 0;
  const listing = folder.list((bytes, start, end, kind) => {
    const name = { bytes, from: start, to: end };
    const dirent = direntOf(name, kind);
    if (isLeftOut(dirent.name)) leftOut.push({ ...dirent, kind: kind ?? "other" });
    else if (omits?.(name, kind ?? kindIn(folder, bytes.subarray(start, end))) !== true) {
      total++;
      first.add(dirent);
    }
  });
  for (const _ of listing) {
    yield* first.trim();
    yield;
  }
  const window = (first.fewInOrder() ?? (yield* first.inOrder())).slice(from);
  return {
    entries: fewEntriesOf(folder, window) ?? (yield* entriesOf(folder, window)),
    total,
    leftOut: fewEntriesOf(folder, leftOut) ?? (yield* entriesOf(folder, leftOut)),
  };
}

/** An entry, as the system reports it. */
interface Dirent {
  /** The name with one character per byte: such strings sort fast, and by bytes. */
  readonly key: string;
  /** As text; the same string if it is ASCII. */
  readonly name: string;
  readonly kind: EntryKind | undefined;
}

function direntOf({ bytes, from, to }: NameBytes, kind: EntryKind | undefined): Dirent {
  const key = bytes.toString("latin1", from, to);
  for (let at = from; at < to; at++)
    if (bytes[at]! >= 0x80) return { key, name: bytes.toString("utf8", from, to), kind };
  return { key, name: key, kind };
}

/** The code units of these keys are the bytes, so this is byte order. */
const isBefore = (one: Dirent, other: Dirent): boolean => one.key < other.key;

/** Each may need a stat. */
const entriesPerStep = 512;

/** The kind of an entry, for file systems that do not report kinds when a folder is read. */
export const kindIn = (folder: Folder, name: Buffer): EntryKind =>
  ignoreVanished(() => kindOf(folder.lstat(nameOf(name)))) ?? "other";

/** `entriesOf` at once, if they are no more than in one step. */
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
