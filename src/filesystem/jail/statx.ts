/**
 * Calls statx(2), which describes a name below a folder held by a descriptor in one step, and without a
 * `Stats` object.
 */
import type { Name } from "./folder.ts";
import type { EntryKind, FileStats } from "./kind.ts";
import { putName } from "./path-argument.ts";
import { callStatx, noFollowing, statxErrno, statxHalves, statxWords } from "./statx-call.ts";

/**
 * Returns the stats of `name` in the folder held by `descriptor`, without following links. Returns
 * `undefined` on every failure, and if the runtime (Node) or the system lacks the call: then `lstat` reports
 * why, or succeeds.
 */
export function statAt(descriptor: number, name: Name): FileStats | undefined {
  if (!describe(descriptor, name, wanted)) return undefined;
  const mode = statxHalves[modeAt]!;
  return {
    kind: kindsByFormat[mode >>> 12] ?? "other",
    size: statxWords[sizeAt]! + statxWords[sizeAt + 1]! * wordRange,
    mtime: statxWords[mtimeAt]! + (statxWords[mtimeAt + 1]! | 0) * wordRange,
    mode: mode & 0o777,
  };
}

/** The identity of an entry, and the number of its names. */
export interface Links {
  readonly kind: EntryKind;
  /** The number of names that lead to it (hard links). */
  readonly links: number;
  readonly inode: bigint;
}

/** Like `statAt`, but returns the facts that distinguish an entry from others, or "missing". */
export function linksAt(descriptor: number, name: Name): Links | "missing" | undefined {
  if (!describe(descriptor, name, wantedOfLinks)) return statxErrno() === ENOENT ? "missing" : undefined;
  return {
    kind: kindsByFormat[statxHalves[modeAt]! >>> 12] ?? "other",
    links: statxWords[linksOffset]!,
    inode: inodeOfResult(),
  };
}

/** An entry, and the state that shows whether it is unchanged. */
export interface Stamps {
  readonly kind: EntryKind;
  readonly inode: bigint;
  /**
   * The facts that change with it, for comparisons: size and times, permissions and owners. For a folder, not
   * those that change with its contents.
   */
  readonly state: string;
}

/** Like `statAt`, but returns the facts that show whether an entry has changed, or "missing". */
export function stampsAt(descriptor: number, name: Name): Stamps | "missing" | undefined {
  if (!describe(descriptor, name, wantedOfStamps)) return statxErrno() === ENOENT ? "missing" : undefined;
  const kind = kindsByFormat[statxHalves[modeAt]! >>> 12] ?? "other";
  const places = kind === "dir" ? identityAt : [...identityAt, ...contentAt];
  return {
    kind,
    inode: inodeOfResult(),
    state: [statxHalves[modeAt], ...places.map((at) => statxWords[at])].join(" "),
  };
}

const inodeOfResult = (): bigint => (BigInt(statxWords[inodeAt + 1]!) << 32n) | BigInt(statxWords[inodeAt]!);

function describe(descriptor: number, name: Name, mask: number): boolean {
  return putName(name) && callStatx(descriptor, noFollowing, mask);
}

/** STATX_TYPE, STATX_MODE, STATX_MTIME and STATX_SIZE. */
const wanted = 0x1 | 0x2 | 0x40 | 0x200;
/** STATX_TYPE, STATX_NLINK and STATX_INO. */
const wantedOfLinks = 0x1 | 0x4 | 0x100;
/** STATX_BASIC_STATS and STATX_BTIME. */
const wantedOfStamps = 0xfff;

/** Offsets of fields of struct statx, in units of the view that reads them. */
const [modeAt, sizeAt, mtimeAt] = [28 / 2, 40 / 4, 112 / 4];
const [linksOffset, inodeAt] = [16 / 4, 32 / 4];
/**
 * Offsets of owner, group and the time of creation, since inodes are reused; and of size and the times of the
 * last change of status and of the content, each with its nanoseconds.
 */
const identityAt = [20 / 4, 24 / 4, 80 / 4, 84 / 4, 88 / 4];
const contentAt = [40 / 4, 44 / 4, 96 / 4, 100 / 4, 104 / 4, 112 / 4, 116 / 4, 120 / 4];
const wordRange = 2 ** 32;

/** The kinds by the format of a mode (S_IFDIR and so on, inode(7)). */
const kindsByFormat: readonly (EntryKind | undefined)[] = Object.assign(
  Array.from<EntryKind | undefined>({ length: 16 }),
  { 4: "dir", 8: "file", 10: "symlink" } as const,
);

/** asm-generic/errno-base.h */
const ENOENT = 2;
