/**
 * Calls openat(2), which opens a name below a folder held by a descriptor. JavaScript runtimes do not offer
 * it; Bun can call it in libc, and everywhere else procfs does the same: `/proc/self/fd/N/name`. It also
 * calls openat2(2), which resolves several names in one step if none is a link, and getdents64(2), which
 * reads a folder by its descriptor.
 */
import { constants, openSync, readdirSync } from "node:fs";
import { openErrno, openLibc } from "../../base/bun.ts";
import { type OnDirent, offsetAfter, parseDirents } from "./dirents.ts";
import { errnoError } from "./errno.ts";
import type { Name } from "./folder.ts";
import { jailedPath, requireOneName } from "./jailed-path.ts";
import { type NameBytes, nameOf } from "./name.ts";
import { pathArgument, putNameIn, putPath } from "./path-argument.ts";

/**
 * Opens `name` in the folder held by `descriptor`. Never follows a link as the last name, and sets O_CLOEXEC.
 * For reading and O_PATH only: no flag that creates. Works in every thread. Linux only. Throws the errno
 * error.
 */
export function openAt(descriptor: number, name: Name, flags: number): number {
  requireOneName(name);
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && putPath(name)) {
    const opened = direct.openat(descriptor, pathArgument, flags | constants.O_NOFOLLOW | closeOnExec);
    if (opened >= 0) return opened;
    // A name that is to be created is usually absent, and repeating its call takes as long as all else here.
    if (direct.errno?.() === absent) throw errnoError("ENOENT");
  }
  // This repeats every other failed call, to throw the errno error like all of node:fs.
  return openThroughProc(descriptor, name, flags);
}

/** Like `openAt`, for a name within other bytes, without making a string of it. */
export function openNameAt(descriptor: number, name: NameBytes, flags: number): number {
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && putNameIn(name)) {
    const opened = direct.openat(descriptor, pathArgument, flags | constants.O_NOFOLLOW | closeOnExec);
    if (opened >= 0) return opened;
  }
  return openThroughProc(descriptor, nameOf(name.bytes.subarray(name.from, name.to)), flags);
}

/** Opens a name below a descriptor: `openAt`, or a function with the same promise. */
export type OpenAt = (descriptor: number, name: Name, flags: number) => number;

/** Implements `openAt` by portable means. */
export function openThroughProc(descriptor: number, name: Name, flags: number): number {
  return openSync(jailedPath(`/proc/self/fd/${descriptor}/`, name), flags | constants.O_NOFOLLOW);
}

/**
 * Opens `path` below the folder held by `descriptor` in one step: anything, or only a folder, with O_PATH; or
 * only a folder that may be listed, for reading. Returns `undefined` if one of the names is a link, on
 * another file system or missing, if the system lacks the call (Linux before 5.6, Node), and on every other
 * failure: to find the reason, resolve the names one by one.
 */
export function openBeneath(
  descriptor: number,
  path: Name,
  what: keyof typeof stepFlags,
): number | undefined {
  direct ??= loadDirect() ?? "none";
  if (direct === "none" || !putPath(path)) return undefined;
  openHow[0] = stepFlags[what] | closeOnExec;
  const opened = direct.syscall(openat2, descriptor, pathArgument, openHow, openHow.byteLength);
  return opened < 0 ? undefined : opened;
}

/**
 * Opens again the very file that `descriptor` holds, since an O_PATH descriptor cannot be read.
 * `ownDescriptors` holds /proc/self/fd, which has each descriptor of this process as an entry. Throws the
 * errno error.
 */
export function reopen(ownDescriptors: number, descriptor: number, flags: number): number {
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && putPath(String(descriptor))) {
    const opened = direct.openat(ownDescriptors, pathArgument, flags | closeOnExec);
    if (opened >= 0) return opened;
  }
  return reopenThroughProc(descriptor, flags);
}

/** Implements `reopen` by portable means. */
export function reopenThroughProc(descriptor: number, flags: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, flags);
}

/** A folder that is being read. */
interface FolderReading {
  /** The descriptor, opened for reading. */
  readonly descriptor: number;
  /**
   * The place to read from: the start, which a folder that was read before has to be set back to, or the end
   * of the last call.
   */
  readonly from: "start" | "set-back" | "next";
  /** Documented at `endOffsetOn`. */
  readonly endOffset: bigint | undefined;
}

/**
 * Reports the next entries of the folder, some thousand at most, and returns whether there are more. Returns
 * `undefined`, with nothing reported, if the runtime cannot call getdents64 (Node), and if the first call for
 * a folder fails. Throws the errno error if a later one does.
 */
export function readDirents(
  { descriptor, from, endOffset }: FolderReading,
  onDirent: OnDirent,
): "more" | "end" | undefined {
  direct ??= loadDirect() ?? "none";
  const getdents64 = getdents64On[process.arch];
  if (direct === "none" || getdents64 === undefined) return undefined;
  if (from === "set-back" && direct.lseek(descriptor, 0, 0) !== 0) return undefined;
  records ??= Buffer.allocUnsafeSlow(recordBytes);
  const length = direct.syscall(getdents64, descriptor, records, recordBytes, 0);
  if (length < 0 && from === "next") throw failureOf(descriptor);
  if (length <= 0) return length === 0 ? "end" : undefined;
  const last = parseDirents(records, length, onDirent);
  return endOffset !== undefined && offsetAfter(records, last) === endOffset ? "end" : "more";
}

/**
 * Reports the entries after those of the first call, some thousand in each step. `requireOpen` throws once it
 * is closed.
 */
export function* readRest(
  reading: Omit<FolderReading, "from">,
  onDirent: OnDirent,
  requireOpen: () => void,
): Generator<void, void, void> {
  for (;;) {
    requireOpen();
    if (readDirents({ ...reading, from: "next" }, onDirent) !== "more") return;
    yield;
  }
}

/** Returns the error that stopped the listing, which `readdirSync` meets too. */
function failureOf(descriptor: number): unknown {
  try {
    readdirSync(`/proc/self/fd/${descriptor}/.`);
  } catch (error) {
    return error;
  }
  return errnoError("EIO");
}

/** Returns whether `openAt` can call libc in this process. */
export function hasDirectOpenat(): boolean {
  direct ??= loadDirect() ?? "none";
  return direct !== "none";
}

/** Calls of libc. Failures are negative. */
interface Calls {
  openat(descriptor: number, name: Uint8Array, flags: number): number;
  lseek(descriptor: number, offset: number, whence: number): number;
  /** Makes a system call. The third argument is a pointer, or a number for calls that take one. */
  syscall(
    number: number,
    descriptor: number,
    bytes: Uint8Array,
    third: Uint32Array | number,
    fourth: number,
  ): number;
}

interface Direct extends Calls {
  /** Returns errno of the last call, if called at once. */
  readonly errno: (() => number) | undefined;
}

let direct: Direct | "none" | undefined;

/** The number of ENOENT on Linux. */
const absent = 2;

/** O_PATH, which node:fs does not export. On other systems this number means something else. */
export const O_PATH = 0o10000000;

/**
 * O_CLOEXEC, the same on all architectures that Bun runs on. node:fs does not export it and always sets it.
 */
const closeOnExec = 0o2000000;

/** Flags of `openBeneath` for each kind of target. */
const stepFlags = {
  any: O_PATH,
  folder: O_PATH | constants.O_DIRECTORY,
  list: constants.O_RDONLY | constants.O_DIRECTORY,
} as const;

/** The number of the system call, the same on all architectures. C libraries have no function for it. */
const openat2 = 437;
const [resolveNoXdev, resolveNoMagiclinks, resolveNoSymlinks, resolveBeneath] = [0x01, 0x02, 0x04, 0x08];
/**
 * The struct open_how: flags, mode, resolve, each of 64 bits, little-endian on the architectures that Bun
 * runs on.
 */
const openHow = Uint32Array.of(
  ...[0, 0, 0, 0],
  ...[resolveNoXdev | resolveNoMagiclinks | resolveNoSymlinks | resolveBeneath, 0],
);

/** Numbers of the system call on the architectures that Bun runs on. */
const getdents64On: Readonly<Record<string, number>> = { x64: 217, arm64: 61 };
const recordBytes = 64 * 1024;
let records: Buffer | undefined;

function loadDirect(): Direct | undefined {
  const calls = openLibc<Calls>({
    openat: { args: ["i32", "ptr", "i32"], returns: "i32" },
    lseek: { args: ["i32", "i64", "i32"], returns: "i64_fast" },
    syscall: { args: ["i64", "i32", "ptr", "ptr", "i64"], returns: "i32" },
  });
  return calls && { ...calls, errno: openErrno() };
}
