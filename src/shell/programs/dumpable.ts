import { loadLibc } from "./libc.ts";

const setDumpable = 4;

/**
 * Closes /proc/PID/environ, mem and fd of this process to every process without the rights of root, including
 * the programs that it starts, and disables core dumps (prctl(2), PR_SET_DUMPABLE). Does nothing if the C
 * library cannot be called.
 */
export function makeUndumpable(): void {
  loadLibc()?.prctl(setDumpable, 0, 0, 0, 0);
}
