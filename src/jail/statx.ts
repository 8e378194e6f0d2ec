/** Calls statx(2), which describes a name below a folder held by a descriptor in one step, and without a `Stats` object. */
import { openErrno, openLibc } from "../bun.ts";
import type { Name } from "./folder.ts";
import { requireOneName } from "./jailed-path.ts";
import type { EntryKind, FileStats } from "./kind.ts";
import { pathArgument, putPath } from "./path-argument.ts";

/**
 * The stats of `name` in the folder held by `descriptor`, without following links. Undefined for every failure, and when
 * the runtime (Node) or the system lacks the call: then `lstat` reports why, or succeeds.
 */
export function statAt(descriptor: number, name: Name): FileStats | undefined {
  if (!callStatx(descriptor, name, wanted)) return undefined;
  const mode = halves[modeAt]!;
  return {
    kind: kindsByFormat[mode >>> 12] ?? "other",
    size: words[sizeAt]! + words[sizeAt + 1]! * wordRange,
    mtime: words[mtimeAt]! + (words[mtimeAt + 1]! | 0) * wordRange,
    mode: mode & 0o777,
  };
}

/** Which entry it is, and how many names it has. */
export interface Links {
  readonly kind: EntryKind;
  /** Names that lead to it (hard links). */
  readonly links: number;
  readonly inode: bigint;
}

/** The same for what distinguishes an entry from others; "missing" when there is none. */
export function linksAt(descriptor: number, name: Name): Links | "missing" | undefined {
  if (!callStatx(descriptor, name, wantedOfLinks))
    return libc !== "none" && libc?.errno() === ENOENT ? "missing" : undefined;
  return {
    kind: kindsByFormat[halves[modeAt]! >>> 12] ?? "other",
    links: words[linksOffset]!,
    inode: inodeOfResult(),
  };
}

/** An entry, and whether it is as it was. */
export interface Stamps {
  readonly kind: EntryKind;
  readonly inode: bigint;
  /** What a change of it changes, to compare: size and times, permissions and owners. Of a folder, not what a change in it changes. */
  readonly state: string;
}

/** The same for what shows that an entry has changed; "missing" when there is none. */
export function stampsAt(descriptor: number, name: Name): Stamps | "missing" | undefined {
  if (!callStatx(descriptor, name, wantedOfStamps))
    return libc !== "none" && libc?.errno() === ENOENT ? "missing" : undefined;
  const kind = kindsByFormat[halves[modeAt]! >>> 12] ?? "other";
  const places = kind === "dir" ? identityAt : [...identityAt, ...contentAt];
  return {
    kind,
    inode: inodeOfResult(),
    state: [halves[modeAt], ...places.map((at) => words[at])].join(" "),
  };
}

const inodeOfResult = (): bigint => (BigInt(words[inodeAt + 1]!) << 32n) | BigInt(words[inodeAt]!);

/** Whether the call has filled `result`. */
function callStatx(descriptor: number, name: Name, mask: number): boolean {
  requireOneName(name);
  libc ??= load() ?? "none";
  const statx = statxOn[process.arch];
  if (libc === "none" || statx === undefined || !putPath(name)) return false;
  return libc.syscall(statx, descriptor, pathArgument, flags, mask, result) === 0;
}

/** Numbers of the system call on the architectures that Bun runs on. */
const statxOn: Readonly<Record<string, number>> = { x64: 332, arm64: 291 };

/** AT_SYMLINK_NOFOLLOW and AT_NO_AUTOMOUNT: as a descriptor with O_PATH, it neither follows links nor mounts anything. */
const flags = 0x100 | 0x800;
/** STATX_TYPE, STATX_MODE, STATX_MTIME and STATX_SIZE. */
const wanted = 0x1 | 0x2 | 0x40 | 0x200;
/** STATX_TYPE, STATX_NLINK and STATX_INO. */
const wantedOfLinks = 0x1 | 0x4 | 0x100;
/** STATX_BASIC_STATS and STATX_BTIME. */
const wantedOfStamps = 0xfff;

/** struct statx, little-endian on these architectures; offsets of its fields, in units of the view that reads them. */
const result = new Uint8Array(256);
const halves = new Uint16Array(result.buffer);
const words = new Uint32Array(result.buffer);
const [modeAt, sizeAt, mtimeAt] = [28 / 2, 40 / 4, 112 / 4];
const [linksOffset, inodeAt] = [16 / 4, 32 / 4];
/** Owner, group and the time of its making, as inodes are used again; size, and the times of the last change of status and of the content, each with its nanoseconds. */
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

interface Calls {
  syscall(
    number: number,
    descriptor: number,
    path: Uint8Array,
    flags: number,
    mask: number,
    result: Uint8Array,
  ): number;
}

interface Libc extends Calls {
  /** That of the last failed call. */
  errno(): number;
}

let libc: Libc | "none" | undefined;

function load(): Libc | undefined {
  const errno = openErrno();
  const calls = openLibc<Calls>({
    syscall: { args: ["i64", "i32", "ptr", "i32", "u32", "ptr"], returns: "i32" },
  });
  return errno && calls && { ...calls, errno };
}
