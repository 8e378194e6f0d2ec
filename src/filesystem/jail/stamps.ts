/**
 * The stamps of files, by statx(2): the identity of a file, and the facts that change with its content. It
 * also finds out whether another program may be writing to a file, by a lease (fcntl(2)). JavaScript runtimes
 * do not offer both calls in full.
 */
import { closeSync, constants, statfsSync } from "node:fs";
import { openLibc } from "../../base/bun.ts";
import type { NameBytes } from "./name.ts";
import { openNameAt } from "./openat.ts";
import { pathArgument, putNameIn } from "./path-argument.ts";
import { callStatx, hasStatx, noFollowing, statxHalves, statxWords } from "./statx-call.ts";

/**
 * Numbers of 32 bits that are the stamps of a file: inode, device, size, and the times of the last changes,
 * each exactly.
 */
export const stampWords = 12;

/**
 * The places in them of the low word of the size, and of the seconds of the time of status change. The words
 * before the size identify the file.
 */
export const sizeAt = 4;
const changedAt = 9;

/** The stamps that the last call of `readStamps` read. */
export const stamps = new Uint32Array(stampWords);

/** Returns how many names the file has whose stamps `readStamps` read last. */
export const linksOfStamped = (): number => links;
let links = 0;

/** Returns whether this process can read stamps, and take leases. */
export function hasStamps(): boolean {
  libc ??= load() ?? "none";
  return libc !== "none" && hasStatx();
}

/**
 * Reads the stamps of the regular file `name` in the folder that `descriptor` holds, without following a
 * link, to `stamps`; without a name, those of the file that it holds. Returns false for anything else, and on
 * every failure.
 */
export function readStamps(descriptor: number, name?: NameBytes): boolean {
  if (name !== undefined && !putNameIn(name)) return false;
  const isRead = name === undefined ? callStatxOn(descriptor) : callStatx(descriptor, noFollowing, wanted);
  if (!isRead || statxHalves[modeAt]! >>> 12 !== regularFile) return false;
  links = statxWords[linksAt]!;
  takeStamps();
  return true;
}

/**
 * Reads the stamps of the folder that `descriptor` holds to `stamps`; they change with the names in it.
 * Returns false for anything else, on every failure, and if the names are encrypted: they change when the key
 * arrives (fscrypt), and the stamps do not.
 */
export function readFolderStamps(descriptor: number): boolean {
  if (!callStatxOn(descriptor) || statxHalves[modeAt]! >>> 12 !== folder) return false;
  if ((statxWords[attributesAt]! & encrypted) !== 0) return false;
  takeStamps();
  return true;
}

/** Describes the file or folder that the descriptor itself holds. */
function callStatxOn(descriptor: number): boolean {
  pathArgument[0] = 0;
  return callStatx(descriptor, emptyPath | noFollowing, wanted);
}

function takeStamps(): void {
  for (let i = 0; i < stampWords; i++) stamps[i] = statxWords[wordsOfStamps[i]!]!;
}

/**
 * Returns whether no program has the file open for writing, or mapped that way, so that the next change of
 * its content changes its stamps. Returns false also if the file belongs to another user, and on every
 * failure. Close the descriptor soon: a program that opens the file for writing waits for that.
 */
export function hasNoWriter(descriptor: number): boolean {
  if (!hasStamps()) return false;
  const { fcntl } = libc as Libc;
  // The signal to the holder of a broken lease would be SIGIO, which ends a process that does not handle it.
  return fcntl(descriptor, setSignal, ignoredSignal) === 0 && fcntl(descriptor, setLease, readLease) === 0;
}

/**
 * Releases the lease that `hasNoWriter` took, for a descriptor that stays open, so that programs which open
 * the file for writing stop waiting.
 */
export function releaseLease(descriptor: number): void {
  if (hasStamps()) (libc as Libc).fcntl(descriptor, setLease, noLease);
}

/**
 * Returns whether the stamps that were read last are so old at `now`, in milliseconds since 1970, that the
 * next change alters them. A change might leave younger ones unchanged, because the clocks of file systems
 * tick slowly ("racily clean" in Git's words).
 */
export function areSettled(now: number): boolean {
  const seconds = stamps[changedAt]! + (stamps[changedAt + 1]! | 0) * 2 ** 32;
  const nanoseconds = stamps[changedAt + 2]!;
  const age = now - (seconds * 1000 + nanoseconds / 1e6);
  return age >= (nanoseconds === 0 ? settledAfterSeconds : settledAfter);
}

/**
 * Minimum age in milliseconds. Linux's clock for files ticks at least every ten; some file systems keep whole
 * seconds.
 */
const settledAfter = 100;
const settledAfterSeconds = 3000;

/**
 * Returns whether each change of the file is reported to the watchers of its folder, unless a program opens
 * it for writing or gives it another name later: it has one name, and no program has it open for writing.
 * Returns false for anything but a file of this user.
 */
export function isReportedIn(folder: number, name: NameBytes): boolean {
  try {
    const descriptor = openNameAt(
      folder,
      name,
      constants.O_RDONLY | constants.O_NONBLOCK | constants.O_NOCTTY,
    );
    try {
      return readStamps(descriptor) && linksOfStamped() === 1 && hasNoWriter(descriptor);
    } finally {
      closeSync(descriptor);
    }
  } catch {
    return false;
  }
}

/**
 * Returns whether the file system of the file that `stamps` belong to changes them with each first store
 * through a mapping.
 */
export function hasExactStamps(descriptor: number): boolean {
  const device = stamps[deviceAt]! * 2 ** 32 + stamps[deviceAt + 1]!;
  const known = exactDevices.get(device);
  if (known !== undefined) return known;
  let isExact = false;
  try {
    isExact = exactFileSystems.has(statfsSync(`/proc/self/fd/${descriptor}`).type);
  } catch {
    // Without procfs nothing is known.
  }
  exactDevices.set(device, isExact);
  return isExact;
}

const exactDevices = new Map<number, boolean>();

/**
 * The magic numbers (statfs(2)) of ext2 to ext4, XFS and Btrfs. On tmpfs a store through a mapping changes no
 * stamp; for overlay file systems, network ones and FUSE it is unknown.
 */
const exactFileSystems: ReadonlySet<number> = new Set([0xef53, 0x58465342, 0x9123683e]);

/** AT_EMPTY_PATH. */
const emptyPath = 0x1000;
/** STATX_TYPE, STATX_MODE, STATX_NLINK, STATX_MTIME, STATX_CTIME, STATX_INO and STATX_SIZE. */
const wanted = 0x1 | 0x2 | 0x4 | 0x40 | 0x80 | 0x100 | 0x200;

/** Offsets of fields of struct statx, in units of the view that reads them. */
const modeAt = 28 / 2;
const linksAt = 16 / 4;
const attributesAt = 8 / 4;
const regularFile = 0o10;
const folder = 0o4;
/** STATX_ATTR_ENCRYPTED. */
const encrypted = 0x800;
/**
 * The offset of each stamp: stx_ino, stx_dev_major and _minor, stx_size, stx_mtime and stx_ctime with their
 * nanoseconds.
 */
const wordsOfStamps = [8, 9, 34, 35, 10, 11, 28, 29, 30, 24, 25, 26];
const deviceAt = 2;

/** F_SETSIG, F_SETLEASE, F_RDLCK and F_UNLCK; SIGURG, which a process ignores by default. */
const setSignal = 10;
const setLease = 1024;
const readLease = 0;
const noLease = 2;
const ignoredSignal = 23;

interface Libc {
  fcntl(descriptor: number, command: number, value: number): number;
}

let libc: Libc | "none" | undefined;

const load = (): Libc | undefined =>
  openLibc<Libc>({
    fcntl: { args: ["i32", "i32", "i64"], returns: "i32" },
  });
