/** The declaration of statx(2), which JavaScript runtimes do not offer, and the place of its result. */
import { openErrno, openLibc } from "../../base/bun.ts";
import { pathArgument } from "./path-argument.ts";

/** The struct statx, little-endian on these architectures, in two views. The next call overwrites it. */
const result = new Uint8Array(256);
export const statxHalves = new Uint16Array(result.buffer);
export const statxWords = new Uint32Array(result.buffer);

/**
 * AT_SYMLINK_NOFOLLOW and AT_NO_AUTOMOUNT. Like a descriptor with O_PATH, it neither follows links nor mounts
 * anything.
 */
export const noFollowing = 0x100 | 0x800;

/** Returns whether this process can call it. */
export function hasStatx(): boolean {
  libc ??= load() ?? "none";
  return libc !== "none" && number !== undefined;
}

/**
 * Describes the entry of the path in `pathArgument` below `descriptor`. Returns false if that fails, and
 * without the call.
 */
export function callStatx(descriptor: number, flags: number, mask: number): boolean {
  if (!hasStatx()) return false;
  return (libc as Libc).syscall(number!, descriptor, pathArgument, flags, mask, result) === 0;
}

/** Returns the errno of the last call that failed, or `undefined` without the call. */
export const statxErrno = (): number | undefined =>
  libc === undefined || libc === "none" ? undefined : libc.errno();

/** The number of the call on the architectures that Bun runs on. */
const number = { x64: 332, arm64: 291 }[process.arch as string];

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
