/** Calls of the C library for processes and pipes that JavaScript runtimes do not offer. */
import { openLibc } from "../../base/bun.ts";

/** Functions of libc, as in section 2 of the manual; a negative result is a failure. */
interface Libc {
  /** pipe2(2): writes the reading and the writing end to `ends`. */
  pipe2(ends: Int32Array, flags: number): number;
  /** fcntl(2), with an argument that is a number. */
  fcntl(descriptor: number, command: number, argument: number): number;
  getsid(process: number): number;
  waitpid(process: number, status: null, options: number): number;
  prctl(option: number, second: number, third: number, fourth: number, fifth: number): number;
}

let loaded: Libc | "none" | undefined;

/**
 * Returns the functions, or `undefined` on Node, on systems other than Linux, and if the system forbids code
 * made at run time.
 */
export function loadLibc(): Libc | undefined {
  loaded ??=
    openLibc<Libc>({
      pipe2: { args: ["ptr", "i32"], returns: "i32" },
      fcntl: { args: ["i32", "i32", "i32"], returns: "i32" },
      getsid: { args: ["i32"], returns: "i32" },
      waitpid: { args: ["i32", "ptr", "i32"], returns: "i32" },
      prctl: { args: ["i32", "u64", "u64", "u64", "u64"], returns: "i32" },
    }) ?? "none";
  return loaded === "none" ? undefined : loaded;
}
