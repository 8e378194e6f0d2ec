/**
 * Calls ioctl(2) with FICLONE, which no JavaScript runtime offers for opened files. Bun can call it in libc
 * on Linux.
 */
import { openLibc } from "../../base/bun.ts";

/**
 * Replaces the content of one opened file by that of another by sharing its blocks (ioctl_ficlone(2)), at
 * once and whatever its size. Returns false if nothing was done: the file system cannot (ext4, tmpfs), the
 * files are on different ones, or the call does not exist (Node, macOS).
 */
export function cloneContent(from: number, to: number): boolean {
  calls ??= openLibc<Calls>({ ioctl: { args: ["i32", "u64", "i32"], returns: "i32" } }) ?? "none";
  return calls !== "none" && calls.ioctl(to, ficlone, from) === 0;
}

interface Calls {
  ioctl(descriptor: number, request: number, argument: number): number;
}

/** This number is the same on all machines that Bun runs on. */
const ficlone = 0x40049409;

let calls: Calls | "none" | undefined;
