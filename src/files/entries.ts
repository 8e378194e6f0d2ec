import { refusing } from "../jail/errno.ts";
import type { Folder, Name } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { nameOf } from "../jail/name.ts";
import type { Entry } from "./files.ts";
import { smallest } from "./smallest.ts";

/** The entries of a folder, temporary files too, sorted by the bytes of their names. Throws a `Refusal`. */
export function readEntries(folder: Folder): Entry[] {
  return refusing(folder.asked, () =>
    readDirents(folder)
      .sort(byName)
      .map((dirent) => entryOf(folder, dirent)),
  );
}

/** Which entries of a folder to read: those that are not left out, from one index up to, not including, another. */
export interface Window {
  readonly from: number;
  readonly to: number;
  isLeftOut(name: string): boolean;
}

export interface EntriesInWindow {
  readonly entries: Entry[];
  /** Entries that are not left out, in the window or not. */
  readonly total: number;
  readonly leftOut: number;
}

/** Some of `readEntries`. Those outside the window cost little more than their names. Throws a `Refusal`. */
export function readWindow(folder: Folder, { from, to, isLeftOut }: Window): EntriesInWindow {
  return refusing(folder.asked, () => {
    const dirents = readDirents(folder);
    const isShown = ({ name }: Dirent) => !isLeftOut(textOf(name));
    const names = dirents.filter(isShown).map(({ name }) => name);
    // Strings sort several times as fast as objects by their names, and few of many need no sorting of all.
    const window = smallest(names, to).slice(from);
    const [first, last] = [window[0], window.at(-1)];
    const isInWindow = ({ name }: Dirent) =>
      first !== undefined && last !== undefined && name >= first && name <= last;
    const inWindow = dirents.filter((dirent) => isInWindow(dirent) && isShown(dirent));
    return {
      entries: inWindow.sort(byName).map((dirent) => entryOf(folder, dirent)),
      total: names.length,
      leftOut: dirents.length - names.length,
    };
  });
}

/** An entry, as the system tells it. */
interface Dirent {
  /** One character per byte: such strings sort fast, and by bytes. */
  readonly name: string;
  readonly kind: EntryKind | undefined;
}

function readDirents(folder: Folder): Dirent[] {
  const dirents: Dirent[] = [];
  folder.list((bytes, from, to, kind) => dirents.push({ name: bytes.toString("latin1", from, to), kind }));
  return dirents;
}

/** The code units of these names are the bytes, so this is byte order. */
const byName = (one: Dirent, other: Dirent): number => (one.name < other.name ? -1 : 1);

function entryOf(folder: Folder, dirent: Dirent): Entry {
  const { name, raw } = decodeName(dirent.name);
  return { name, raw, kind: dirent.kind ?? kindOf(folder.lstat(raw)) ?? "other" };
}

function decodeName(latin1: string): { name: string; raw: Name } {
  if (isAscii(latin1)) return { name: latin1, raw: latin1 };
  return { name: textOf(latin1), raw: nameOf(Buffer.from(latin1, "latin1")) };
}

/** The text of the bytes that these code units are. */
const textOf = (latin1: string): string =>
  isAscii(latin1) ? latin1 : Buffer.from(latin1, "latin1").toString();

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
