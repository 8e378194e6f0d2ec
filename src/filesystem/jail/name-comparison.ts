/** The ways in which kinds of file systems compare names. */
import { hasCasefold } from "./casefold-flag.ts";

/**
 * The way a folder compares names: "exact"; "folded", where two spellings mean one entry (case, Unicode
 * forms, invisible characters); or "foreign", in a way of its own, with second names such as FAT's `ENV~1`.
 */
export type Folding = "exact" | "folded" | "foreign";

/** The known rules for names in a folder. */
export interface Naming {
  readonly folding: Folding;
  /** Whether each folder has a flag for folding. */
  readonly isFlagged: boolean;
}

/** Types of file systems (linux/magic.h) whose folders compare names exactly. */
const exact: ReadonlySet<number> = new Set([
  0x9123683e, // btrfs
  0x58465342, // xfs; but not one made with `-n version=ci`
  0x73717368, // squashfs
  0xe0f5e1e2, // erofs
  0x858458f6, // ramfs
]);

/**
 * Types whose folders compare names exactly unless they have the flag for folding, with the features that
 * show whether the kernel supports the flag.
 */
const flagged: ReadonlyMap<number, readonly string[]> = new Map([
  [0xef53, ["ext4"]],
  [0xf2f52010, ["f2fs"]],
  [0x01021994, ["tmpfs"]],
  [0x794c7630, ["ext4", "f2fs", "tmpfs"]], // overlayfs, above any of them
]);

/** Types that fold names if a property of the whole file system says so. They have no second names. */
const folded: ReadonlySet<number> = new Set([
  0x2fc12fc1, // zfs
  0x6969, // nfs
  0x482b, // hfsplus
  0x3153464a, // jfs
  0xca451a4e, // bcachefs
]);

/**
 * Returns the naming in the root of a file system of this type. Unknown types are foreign, as are vfat,
 * exfat, ntfs, cifs, 9p, vboxsf and everything mounted through fuse. `hasFeature` decides which kinds of
 * folders may have the flag.
 */
function namingOfType(type: number, hasFeature: (fileSystem: string) => boolean): Naming {
  const kinds = flagged.get(type);
  if (kinds !== undefined) return { folding: "exact", isFlagged: kinds.some(hasFeature) };
  if (exact.has(type)) return { folding: "exact", isFlagged: false };
  return { folding: folded.has(type) ? "folded" : "foreign", isFlagged: false };
}

/** The properties of a folder that decide its naming. */
export interface NamedFolder {
  /** The type of its file system, `undefined` if it is that of the parent folder. */
  readonly type: number | undefined;
  /** Returns whether it has the flag for folding. Called only if that is possible. */
  isCasefolded(): boolean;
}

/**
 * Returns the naming in a folder inside one with the naming `outer`. Below a folder that folds, every path
 * counts as folded.
 */
export function namingIn(outer: Naming, { type, isCasefolded }: NamedFolder): Naming {
  if (type === undefined && !outer.isFlagged) return outer;
  const ofKind =
    type === undefined
      ? { folding: "exact" as const, isFlagged: outer.isFlagged }
      : namingOfType(type, hasCasefold);
  const own: Naming = ofKind.isFlagged && isCasefolded() ? { ...ofKind, folding: "folded" } : ofKind;
  return rank[own.folding] >= rank[outer.folding] ? own : { ...own, folding: outer.folding };
}

/**
 * Returns the naming in the base. If a property of the whole file system decides, a trial of the base shows
 * it.
 */
export function namingOfBase(base: NamedFolder): Naming {
  if (base.type !== undefined && folded.has(base.type)) return exactNaming;
  return namingIn(exactNaming, base);
}

/** Returns whether a file system of this type compares names exactly, except in folders with the flag. */
export const hasExactNames = (type: number): boolean => namingOfType(type, hasCasefold).folding === "exact";

/** The naming of nearly all folders. */
export const exactNaming: Naming = { folding: "exact", isFlagged: false };

const rank = { exact: 0, folded: 1, foreign: 2 } as const;
