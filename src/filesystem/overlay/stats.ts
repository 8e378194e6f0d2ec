/** Predicts the results of lstat(2) for entries that are not on disk yet. */
import { constants, type Stats } from "node:fs";
import { errnoError } from "../jail/errno.ts";
import type { EntryKind } from "../jail/kind.ts";

const types: Readonly<Record<Exclude<EntryKind, "other">, number>> = {
  file: constants.S_IFREG,
  dir: constants.S_IFDIR,
  symlink: constants.S_IFLNK,
};

interface NewEntry {
  readonly kind: keyof typeof types;
  readonly mode: number;
  readonly size: number;
  readonly owner?: { readonly uid: number; readonly gid: number } | undefined;
}

/** The inode of the last new entry. Inodes on disk are never negative. */
let lastInode = 0;

/**
 * Returns the stats of a new entry on the device of `base`, with an inode of its own and the current time.
 */
export function statsOfNew({ kind, mode, size, owner }: NewEntry, base: Stats): Stats {
  const own = ownerOfCopy(owner ?? { uid: effectiveUser(), gid: process.getegid?.() ?? base.gid });
  const now = new Date();
  return withFields(base, {
    ...own,
    mode: types[kind] | mode,
    size,
    ino: --lastInode,
    nlink: 1,
    mtime: now,
    mtimeMs: now.getTime(),
  });
}

/** Returns the default mode of a folder. */
export const defaultFolderMode = (): number => 0o777 & ~process.umask();

/** Returns a copy of the stats with other permission bits. */
export const statsWithMode = (stats: Stats, mode: number | undefined): Stats =>
  mode === undefined ? stats : withFields(stats, { mode: (stats.mode & ~0o7777) | mode });

/** Returns stats of a copy of an entry with these stats. */
export const statsOfCopy = (stats: Stats): Stats =>
  withFields(stats, { ...ownerOfCopy(stats), ino: --lastInode, nlink: 1 });

/** Returns the owner of a copy. Only root can give files away. */
const ownerOfCopy = ({ uid, gid }: { uid: number; gid: number }): { uid: number; gid: number } =>
  effectiveUser() === 0 ? { uid, gid } : { uid: effectiveUser(), gid };

const effectiveUser = (): number => process.geteuid?.() ?? 0;

function withFields(stats: Stats, fields: Partial<Stats>): Stats {
  const descriptors = Object.entries(fields).map(([key, value]) => [key, { value, enumerable: true }]);
  return Object.create(stats, Object.fromEntries(descriptors));
}

/** The bits of `requireAccess`, as in access(2). */
export const access = { execute: 1, write: 2, read: 4 } as const;

/** Throws EACCES unless mode and owner grant this process these rights. */
export function requireAccess({ mode, uid, gid }: Stats, bits: number): void {
  const user = effectiveUser();
  if (user === 0) return;
  const isOfGroup = gid === process.getegid?.() || process.getgroups?.().includes(gid);
  const shift = uid === user ? 6 : isOfGroup ? 3 : 0;
  if (((mode >> shift) & bits) !== bits) throw errnoError("EACCES");
}

/** Throws EACCES unless this process may set the mode of an entry with these stats. */
export function requireOwner({ uid }: Stats): void {
  const user = effectiveUser();
  if (user !== 0 && uid !== user) throw errnoError("EACCES");
}
