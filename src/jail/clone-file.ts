/** ioctl(2) with FICLONE, which no JavaScript runtime offers for opened files. Bun can call it in libc on Linux. */
import { openLibc } from "../bun.ts";

/**
 * Makes the content of one opened file that of another by sharing its blocks (ioctl_ficlone(2)), at once and whatever its
 * size. False when nothing was done: the file system cannot (ext4, tmpfs), they are two, or there is no such call (Node,
 * macOS).
 */
export function cloneContent(from: number, to: number): boolean {
  calls ??= openLibc<Calls>({ ioctl: { args: ["i32", "u64", "i32"], returns: "i32" } }) ?? "none";
  return calls !== "none" && calls.ioctl(to, ficlone, from) === 0;
}

interface Calls {
  ioctl(descriptor: number, request: number, argument: number): number;
}

/** The same number on the machines that Bun runs on. */
const ficlone = 0x40049409;

let calls: Calls | "none" | undefined;
