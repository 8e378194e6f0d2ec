import { type Dirent, lstatSync, readdirSync } from "node:fs";
import { refusing } from "../jail/errno.ts";
import type { Folder, Name } from "../jail/folder.ts";
import type { Entry } from "./files.ts";
import { smallest } from "./smallest.ts";
import { kindOf } from "./stats.ts";
import type { At } from "./write.ts";

/** The entries of a folder, temporary files too, sorted by the bytes of their names. Throws a `Refusal`. */
export function readEntries(folder: Folder): Entry[] {
  return withDirents(folder, (dirents, at) => dirents.sort(byName).map((dirent) => entryOf(dirent, at)));
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
  return withDirents(folder, (dirents, at) => {
    const isShown = ({ name }: Dirent) => !isLeftOut(textOf(name));
    const names = dirents.filter(isShown).map(({ name }) => name);
    // Strings sort several times as fast as objects by their names, and few of many need no sorting of all.
    const window = smallest(names, to).slice(from);
    const [first, last] = [window[0], window.at(-1)];
    const isInWindow = ({ name }: Dirent) =>
      first !== undefined && last !== undefined && name >= first && name <= last;
    const inWindow = dirents.filter((dirent) => isInWindow(dirent) && isShown(dirent));
    return {
      entries: inWindow.sort(byName).map((dirent) => entryOf(dirent, at)),
      total: names.length,
      leftOut: dirents.length - names.length,
    };
  });
}

function withDirents<T>(folder: Folder, use: (dirents: Dirent[], at: At) => T): T {
  return refusing(folder.asked, () =>
    folder.enter((at) =>
      // One character per byte: the only way to read names byte-exactly together with their kinds, on Bun and Node.
      use(readdirSync(at(".") as string, { encoding: "latin1", withFileTypes: true }), at),
    ),
  );
}

/** The code units of these names are the bytes, so this is byte order. */
const byName = (one: Dirent, other: Dirent): number => (one.name < other.name ? -1 : 1);

function entryOf(dirent: Dirent, at: At): Entry {
  const { name, raw } = decodeName(dirent.name);
  return { name, raw, kind: kindOf(dirent) ?? kindOf(lstatSync(at(raw))) ?? "other" };
}

function decodeName(latin1: string): { name: string; raw: Name } {
  if (isAscii(latin1)) return { name: latin1, raw: latin1 };
  const bytes = Buffer.from(latin1, "latin1");
  const name = textOf(latin1);
  return { name, raw: Buffer.from(name).equals(bytes) ? name : bytes };
}

/** The text of the bytes that these code units are. */
const textOf = (latin1: string): string =>
  isAscii(latin1) ? latin1 : Buffer.from(latin1, "latin1").toString();

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);
