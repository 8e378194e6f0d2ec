/** Reads the flag of a folder that folds its names (`chattr +F`, FS_CASEFOLD_FL). */
import { closeSync, constants, existsSync, openSync } from "node:fs";
import { openErrno, openLibc } from "../../base/bun.ts";

/** FS_IOC_GETFLAGS, on the architectures that Bun runs on. */
const getFlags = 0x80086601;
const casefold = 0x40000000;

/** ENOTTY, EINVAL and EOPNOTSUPP: this file system has no flags. */
const withoutFlags: ReadonlySet<number> = new Set([25, 22, 95]);

interface Libc {
  ioctl(descriptor: number, request: number, result: Int32Array): number;
  errno(): number;
}

/**
 * Returns whether folders of this kind of file system may have the flag in this kernel, according to sysfs.
 * Returns false if the runtime cannot read the flag (Node).
 */
export const hasCasefold = (fileSystem: string): boolean =>
  load() !== undefined && (!existsSync("/sys/fs") || existsSync(`/sys/fs/${fileSystem}/features/casefold`));

/**
 * Returns whether the folder, which was opened for reading, has the flag. Returns true if the system does not
 * show it.
 */
export function isCasefolded(descriptor: number): boolean {
  const libc = load();
  const flags = new Int32Array(2);
  if (libc === undefined) return false;
  if (libc.ioctl(descriptor, getFlags, flags) === 0) return (flags[0]! & casefold) !== 0;
  return !withoutFlags.has(libc.errno());
}

/**
 * Like `isCasefolded`, for a folder held by O_PATH. Returns true for one that may not be read, whose flag
 * stays unknown.
 */
export const isCasefoldedWithin = (descriptor: number): boolean =>
  isCasefoldedIn(`/proc/self/fd/${descriptor}/.`, constants.O_RDONLY | constants.O_DIRECTORY);

/**
 * Like `isCasefolded`, by a path. Returns true for a folder that may not be read, whose flag stays unknown.
 * Never follows a link.
 */
export const isCasefoldedAt = (path: string | Buffer): boolean =>
  isCasefoldedIn(path, constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW);

function isCasefoldedIn(path: string | Buffer, flags: number): boolean {
  try {
    const readable = openSync(path, flags);
    try {
      return isCasefolded(readable);
    } finally {
      closeSync(readable);
    }
  } catch {
    return true;
  }
}

let loaded: Libc | "none" | undefined;

function load(): Libc | undefined {
  loaded ??= open() ?? "none";
  return loaded === "none" ? undefined : loaded;
}

function open(): Libc | undefined {
  const errno = openErrno();
  const calls = openLibc<Omit<Libc, "errno">>({ ioctl: { args: ["i32", "u64", "ptr"], returns: "i32" } });
  return errno && calls && { ...calls, errno };
}
