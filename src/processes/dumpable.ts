/** What other processes of the same user may see of this one. */
import { loadLibc } from "./libc.ts";

const setDumpable = 4;

/**
 * Closes /proc/PID/environ, mem and fd of this process to every other process that has not the rights of root, the
 * programs that it starts among them, and makes no core dumps (prctl(2), PR_SET_DUMPABLE). Does nothing where the C
 * library is out of reach.
 */
export function makeUndumpable(): void {
  loadLibc()?.prctl(setDumpable, 0, 0, 0, 0);
}
