import { existsSync, readFileSync } from "node:fs";
import { waitFor } from "./case.ts";

/** Whether a process runs. A zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** Waits until a program has written a process id into a file, and returns it. */
export const readPid = (file: string): Promise<number> =>
  waitFor(() => (existsSync(file) ? Number(readFileSync(file, "utf8")) || undefined : undefined));

/** Resolves when a process no longer runs. */
export const waitForExit = (pid: number): Promise<true> => waitFor(() => (isAlive(pid) ? undefined : true));
