/** The entries that a step of the disk removes or places, for listeners that keep them. */
import {
  type BigIntStats,
  closeSync,
  constants,
  fstatSync,
  lstatSync,
  openSync,
  readlinkSync,
  type Stats,
} from "node:fs";
import { readEntries } from "../files/entries.ts";
import { isLarge } from "../files/revision.ts";
import type { Entry } from "../files/types.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import { type Folder, isTextIn, type JailedPath, type Name } from "../jail/folder.ts";
import { entryIdentityOf, inodeOf } from "../jail/inode.ts";
import { kindOf } from "../jail/kind.ts";
import { isTemporary } from "../jail/temporary.ts";
import type { HeldEntry, StepEntries } from "./mutation.ts";

/** Names an entry of a folder that is entered. */
export type At = (name: Name) => JailedPath;

/** The place of a step's entries. */
interface EntryNames {
  readonly folder: Folder;
  readonly name: Name;
  /** The temporary name of the entry that is to get the name. */
  readonly temporary?: Name | undefined;
  /** The temporary name that the removed entry gets. */
  readonly aside?: Name | undefined;
  /** Names entries of a folder that is entered already. */
  readonly at?: At | undefined;
}

/** Returns the entries of a step that assigns or removes a name. */
export function entriesAt({ folder, name, temporary, aside, at }: EntryNames): StepEntries {
  const enter: Enter = at === undefined ? (act) => folder.enter(act) : (act) => act(at);
  return {
    replaced: () => entryIn(folder, name, enter),
    ...(temporary !== undefined && { placed: () => entryIn(folder, temporary, enter) }),
    ...(aside !== undefined && { aside: () => entryIn(folder, aside, enter) }),
  };
}

/** Returns the entries of a rename. */
export const entriesOfRename = (
  source: Pick<EntryNames, "folder" | "name">,
  target: Pick<EntryNames, "folder" | "name">,
): StepEntries => ({
  replaced: () => entryIn(target.folder, target.name),
  placed: () => entryIn(source.folder, source.name),
});

/** An entry with the facts that it had once. Other programs may give its name to another one. */
export interface PinnedEntry {
  /** Reading it throws ESTALE if another entry has the name. */
  readonly entry: HeldEntry;
  /**
   * Throws ESTALE unless this very entry is at `path` and was the one that was read. With `mayBeWritten` its
   * content may have changed. That of a large file always may, since the journal keeps a copy for each try.
   */
  requireSame(path: JailedPath, mayBeWritten: boolean): void;
}

/**
 * Returns the entry with the name and its present facts, if any. `at` names it in a folder that is entered
 * already. Throws the errno error.
 */
export function pinEntry(folder: Folder, name: Name, at?: At): PinnedEntry | undefined {
  const enter: Enter = at === undefined ? (act) => folder.enter(act) : (act) => act(at);
  const stats = enter((to) => lstatSync(to(name), { bigint: true, throwIfNoEntry: false }));
  if (stats === undefined) return undefined;
  const [inode, identity] = [inodeOf(stats), entryIdentityOf(stats)];
  const { linkText, ...entry } = heldEntry(folder, name, stats, enter);
  const text = entry.kind === "symlink" ? linkText() : Buffer.alloc(0);
  let isOther = false;
  const open = () => {
    try {
      const descriptor = enter((to) => openSync(to(name), readFlags));
      if (inodeOf(fstatSync(descriptor, { bigint: true })) === inode) return descriptor;
      closeSync(descriptor);
      throw errnoError("ESTALE");
    } catch (error) {
      isOther ||= ["ESTALE", "ENOENT", "ELOOP"].includes(errnoOf(error)!);
      throw error;
    }
  };
  return {
    entry: { ...entry, identity: () => identity, ...contentFrom(open), linkText: () => text },
    requireSame(path, mayBeWritten) {
      const found = lstatSync(path, { bigint: true });
      const isSame =
        mayBeWritten || isLarge(entry) ? inodeOf(found) === inode : entryIdentityOf(found) === identity;
      const isRead = !isOther && (!found.isSymbolicLink() || readlinkSync(path, "buffer").equals(text));
      if (!isSame || !isRead) throw errnoError("ESTALE");
    },
  };
}

/** Returns an opened regular file as an entry. */
export function openedFile(descriptor: number): HeldEntry {
  const { mode, size } = fstatSync(descriptor);
  return {
    kind: "file",
    mode: mode & 0o7777,
    size,
    read: (use) => use(descriptor),
    readInSteps: (use) => use(descriptor),
    linkText: () => Buffer.alloc(0),
    inside: () => [],
  };
}

/** Returns a link that is not on the disk yet as an entry. */
export const linkWith = (text: Buffer): HeldEntry => ({
  kind: "symlink",
  mode: 0o777,
  size: text.length,
  ...noContent,
  linkText: () => text,
  inside: () => [],
});

type Content = Pick<HeldEntry, "read" | "readInSteps">;

/** Returns the methods of a file that `open` opens for each reading. */
export const contentFrom = (open: () => number): Content => ({
  read(use) {
    const descriptor = open();
    try {
      return use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
  *readInSteps(use) {
    const descriptor = open();
    try {
      return yield* use(descriptor);
    } finally {
      closeSync(descriptor);
    }
  },
});

/** The methods of an entry that is not a file. */
export const noContent: Content = {
  read: () => undefined,
  // biome-ignore lint/correctness/useYield: reading nothing has no step.
  *readInSteps() {
    return undefined;
  },
};

type Enter = <T>(act: (at: At) => T) => T;

const readFlags = constants.O_RDONLY | constants.O_NOFOLLOW | constants.O_NONBLOCK | constants.O_NOCTTY;

/** Returns the entry with the name, or `undefined` if the name is free. Throws the errno error. */
function entryIn(folder: Folder, name: Name, enter?: Enter): HeldEntry | undefined {
  const at = enter ?? ((act) => folder.enter(act));
  const stats = at((to) => lstatSync(to(name), { throwIfNoEntry: false }));
  return stats === undefined ? undefined : heldEntry(folder, name, stats, at);
}

/** Returns the entry with the name, which has these stats. */
function heldEntry(
  folder: Folder,
  name: Name,
  stats: Stats | BigIntStats,
  enter: Enter = (act) => folder.enter(act),
): HeldEntry {
  return {
    kind: kindOf(stats) ?? "other",
    mode: Number(stats.mode) & 0o7777,
    size: Number(stats.size),
    owner: { uid: Number(stats.uid), gid: Number(stats.gid) },
    identity: () => enter((at) => entryIdentityOf(lstatSync(at(name), { bigint: true }))),
    ...contentFrom(() => enter((at) => openSync(at(name), readFlags))),
    linkText: () => enter((at) => readlinkSync(at(name), "buffer")),
    inside: () => insideOf(folder, name, ""),
  };
}

function* insideOf(outer: Folder, name: Name, above: string): ReturnType<HeldEntry["inside"]> {
  using folder = outer.child(name);
  for (const entry of yield* readEntries(folder) as Generator<undefined, Entry[]>) {
    if (isTemporary(entry.name)) continue;
    const path = `${above}${entry.name}`;
    const held = entryIn(folder, entry.raw);
    if (held === undefined) continue;
    yield { path, isText: isTextIn(folder, entry.raw), entry: held };
    if (held.kind === "dir") yield* insideOf(folder, entry.raw, `${path}/`);
  }
}
