/**
 * openat(2), which opens a name below a folder that is held by a descriptor. JavaScript runtimes do not offer it;
 * Bun can call it in libc, and everywhere else procfs gives the same: `/proc/self/fd/N/name`. And openat2(2), which
 * takes several names in one step where none of them is a link, and getdents64(2), which reads a folder by its
 * descriptor.
 */
import { constants, openSync, readdirSync } from "node:fs";
import { openLibc } from "../bun.ts";
import { isSelfOrParent, type OnDirent, parseDirents } from "./dirents.ts";
import { errnoError } from "./errno.ts";
import type { Name } from "./folder.ts";
import { jailedPath, requireOneName } from "./jailed-path.ts";
import { type NameBytes, nameOf } from "./name.ts";

/**
 * Opens `name` in the folder held by `descriptor`, never following a link as the last name, and closed in programs
 * this process starts. For reading and O_PATH only: no flag that creates. Usable from every thread. Linux only.
 * Throws the errno error.
 */
export function openAt(descriptor: number, name: Name, flags: number): number {
  requireOneName(name);
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && fits(name)) {
    const opened = direct.openat(descriptor, nameBytes, flags | constants.O_NOFOLLOW | closeOnExec);
    if (opened >= 0) return opened;
  }
  // Every failure is tried again: this one knows errno, and throws it as all of node:fs does.
  return openThroughProc(descriptor, name, flags);
}

/** `openAt` for a name that lies in other bytes, and of which no string is made. */
export function openNameAt(descriptor: number, { bytes, from, to }: NameBytes, flags: number): number {
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && putName(bytes, from, to)) {
    const opened = direct.openat(descriptor, nameBytes, flags | constants.O_NOFOLLOW | closeOnExec);
    if (opened >= 0) return opened;
  }
  return openThroughProc(descriptor, nameOf(bytes.subarray(from, to)), flags);
}

/** How a name below a descriptor is opened: `openAt`, or what promises the same. */
export type OpenAt = (descriptor: number, name: Name, flags: number) => number;

/** `openAt` by portable means. */
export function openThroughProc(descriptor: number, name: Name, flags: number): number {
  return openSync(jailedPath(`/proc/self/fd/${descriptor}/`, name), flags | constants.O_NOFOLLOW);
}

/**
 * What `path` leads to below the folder held by `descriptor`, opened with O_PATH in one step, or only if it is a folder,
 * or only if it is one whose names may be read, and then opened for that.
 * Undefined when one of the names is a link, lies on another file system or is not there, when the system has no such
 * step (Linux before 5.6, Node), and when it does not say: who wants to know has to take the names one by one.
 */
export function openBeneath(
  descriptor: number,
  path: Name,
  what: keyof typeof stepFlags,
): number | undefined {
  direct ??= loadDirect() ?? "none";
  if (direct === "none" || !fits(path)) return undefined;
  openHow[0] = stepFlags[what] | closeOnExec;
  const opened = direct.syscall(openat2, descriptor, nameBytes, openHow, openHow.byteLength);
  return opened < 0 ? undefined : opened;
}

/**
 * A new descriptor of the very file that `descriptor` holds: one with O_PATH cannot be read. `ownDescriptors` holds
 * /proc/self/fd, from which each descriptor of this process is one name away. Throws the errno error.
 */
export function reopen(ownDescriptors: number, descriptor: number, flags: number): number {
  direct ??= loadDirect() ?? "none";
  if (direct !== "none" && fits(String(descriptor))) {
    const opened = direct.openat(ownDescriptors, nameBytes, flags | closeOnExec);
    if (opened >= 0) return opened;
  }
  return reopenThroughProc(descriptor, flags);
}

/** `reopen` by portable means. */
export function reopenThroughProc(descriptor: number, flags: number): number {
  return openSync(`/proc/self/fd/${descriptor}`, flags);
}

/**
 * Reports all entries of the folder held by `descriptor`, which was opened for reading, some thousand in each step.
 * Returns false, with nothing reported, when the system has no such call (Node) and when something is against it, which it
 * does not say. Throws the errno error when it fails in the midst.
 */
export function* readDirents(descriptor: number, onDirent: OnDirent): Generator<void, boolean, void> {
  direct ??= loadDirect() ?? "none";
  const getdents64 = getdents64On[process.arch];
  if (direct === "none" || getdents64 === undefined || direct.lseek(descriptor, 0, 0) !== 0) return false;
  records ??= Buffer.allocUnsafeSlow(recordBytes);
  for (let hasParsed = false; ; hasParsed = true) {
    const length = direct.syscall(getdents64, descriptor, records, recordBytes, 0);
    if (length < 0 && hasParsed) throw failureOf(descriptor);
    if (length <= 0) return length === 0;
    parseDirents(records, length, onDirent);
    yield;
  }
}

/** What keeps the folder from being read on: errno is out of reach here, and `readdirSync` throws it. */
function failureOf(descriptor: number): unknown {
  try {
    readdirSync(`/proc/self/fd/${descriptor}/.`);
  } catch (error) {
    return error;
  }
  return errnoError("EIO");
}

/** Whether `openAt` has the direct way in this process. */
export function hasDirectOpenat(): boolean {
  direct ??= loadDirect() ?? "none";
  return direct !== "none";
}

/** What is called in libc. Failures are negative, and errno is out of reach. */
interface Direct {
  openat(descriptor: number, name: Uint8Array, flags: number): number;
  lseek(descriptor: number, offset: number, whence: number): number;
  /** The third argument is a pointer, or a number where the call takes one there. */
  syscall(
    number: number,
    descriptor: number,
    bytes: Uint8Array,
    third: Uint32Array | number,
    fourth: number,
  ): number;
}

let direct: Direct | "none" | undefined;

/** Not exported by node:fs. On other systems this number means something else. */
export const O_PATH = 0o10000000;

/** The same on all architectures that Bun runs on; node:fs does not export it and always sets it. */
const closeOnExec = 0o2000000;

/** What `openBeneath` opens, and how. */
const stepFlags = {
  any: O_PATH,
  folder: O_PATH | constants.O_DIRECTORY,
  list: constants.O_RDONLY | constants.O_DIRECTORY,
} as const;

/** The number of the system call, the same on all architectures; C libraries have no function for it. */
const openat2 = 437;
const [resolveNoXdev, resolveNoMagiclinks, resolveNoSymlinks, resolveBeneath] = [0x01, 0x02, 0x04, 0x08];
/** struct open_how: flags, mode, resolve, each of 64 bits, of which the machines Bun runs on put the low half first. */
const openHow = Uint32Array.of(
  ...[0, 0, 0, 0],
  ...[resolveNoXdev | resolveNoMagiclinks | resolveNoSymlinks | resolveBeneath, 0],
);

/** Numbers of the system call on the machines that Bun runs on. */
const getdents64On: Readonly<Record<string, number>> = { x64: 217, arm64: 61 };
const recordBytes = 64 * 1024;
let records: Buffer | undefined;

const nameBytes = new Uint8Array(1024);
const encoder = new TextEncoder();

/** Puts the name with a NUL into `nameBytes`; false when it does not go in whole. */
function fits(name: Name): boolean {
  if (name.length >= nameBytes.length) return false;
  if (typeof name !== "string") {
    nameBytes.set(name);
    nameBytes[name.length] = 0;
    return true;
  }
  const { read, written } = encoder.encodeInto(name, nameBytes);
  if (read < name.length || written >= nameBytes.length) return false;
  nameBytes[written] = 0;
  return true;
}

/** The same for the name in `bytes[from, to)`; false also when it is no name of an entry (`requireOneName`). */
function putName(bytes: Buffer, from: number, to: number): boolean {
  const length = to - from;
  if (length === 0 || length >= nameBytes.length || isSelfOrParent(bytes, from, to)) return false;
  for (let i = 0; i < length; i++) {
    const byte = bytes[from + i]!;
    if (byte === slash || byte === 0) return false;
    nameBytes[i] = byte;
  }
  nameBytes[length] = 0;
  return true;
}

const slash = 0x2f;

function loadDirect(): Direct | undefined {
  return openLibc<Direct>({
    openat: { args: ["i32", "ptr", "i32"], returns: "i32" },
    lseek: { args: ["i32", "i64", "i32"], returns: "i64_fast" },
    syscall: { args: ["i64", "i32", "ptr", "ptr", "i64"], returns: "i32" },
  });
}
