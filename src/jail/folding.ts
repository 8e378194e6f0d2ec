/** How file systems compare names, as far as their kind says. */
import { hasCasefold } from "./casefold.ts";

/**
 * How the names of a folder are compared: exactly; or two spellings mean one entry (case, Unicode forms, characters that
 * are not seen); or in some way of its own, with second names such as FAT's `ENV~1`.
 */
export type Folding = "exact" | "folded" | "foreign";

/** What is known of the names in a folder. */
export interface Naming {
  readonly folding: Folding;
  /** A flag of each folder says whether it folds names. */
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

/** The same, unless a folder has the flag for folding, and the file by which the kernel says that it knows this flag. */
const flagged: ReadonlyMap<number, readonly string[]> = new Map([
  [0xef53, ["ext4"]],
  [0xf2f52010, ["f2fs"]],
  [0x01021994, ["tmpfs"]],
  [0x794c7630, ["ext4", "f2fs", "tmpfs"]], // overlayfs, above any of them
]);

/** A property of the whole file system may make them fold; they have no second names. */
const folded: ReadonlySet<number> = new Set([
  0x2fc12fc1, // zfs
  0x6969, // nfs
  0x482b, // hfsplus
  0x3153464a, // jfs
  0xca451a4e, // bcachefs
]);

/**
 * The names in the root of a file system of this type. What is not known, as of vfat, exfat, ntfs, cifs, 9p, vboxsf and
 * whatever is behind fuse, compares them in a way of its own. `hasFeature` says which kinds of folders may have the flag.
 */
function namingOfType(type: number, hasFeature: (fileSystem: string) => boolean): Naming {
  const kinds = flagged.get(type);
  if (kinds !== undefined) return { folding: "exact", isFlagged: kinds.some(hasFeature) };
  if (exact.has(type)) return { folding: "exact", isFlagged: false };
  return { folding: folded.has(type) ? "folded" : "foreign", isFlagged: false };
}

/** A folder, as its naming is found out. */
export interface NamedFolder {
  /** The type of its file system; undefined where that is the one of the folder around it. */
  readonly type: number | undefined;
  /** Whether it has the flag for folding; asked only where it may. */
  isCasefolded(): boolean;
}

/** The naming in a folder inside one of `outer`. Below a folder that folds every path is taken as folded. */
export function namingIn(outer: Naming, { type, isCasefolded }: NamedFolder): Naming {
  const ofKind =
    type === undefined
      ? { folding: "exact" as const, isFlagged: outer.isFlagged }
      : namingOfType(type, hasCasefold);
  const own: Naming = ofKind.isFlagged && isCasefolded() ? { ...ofKind, folding: "folded" } : ofKind;
  return rank[own.folding] >= rank[outer.folding] ? own : { ...own, folding: outer.folding };
}

/** The naming in the base. Where a property of the whole file system decides, a trial of the base shows it. */
export function namingOfBase(base: NamedFolder): Naming {
  if (base.type !== undefined && folded.has(base.type)) return exactNaming;
  return namingIn(exactNaming, base);
}

/** Whether a file system of this type compares names exactly, but for folders with the flag. */
export const hasExactNames = (type: number): boolean => namingOfType(type, hasCasefold).folding === "exact";

/** For where nothing is known but that all is as usual. */
export const exactNaming: Naming = { folding: "exact", isFlagged: false };

const rank = { exact: 0, folded: 1, foreign: 2 } as const;
