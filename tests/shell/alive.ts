import { existsSync, readFileSync } from "node:fs";
import { waitFor } from "./case.ts";

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** The number that a program writes into a file, once it is there. */
export const readPid = (file: string): Promise<number> =>
  waitFor(() => (existsSync(file) ? Number(readFileSync(file, "utf8")) || undefined : undefined));

/** Resolves when a process does not run any more. */
export const waitForExit = (pid: number): Promise<true> => waitFor(() => (isAlive(pid) ? undefined : true));
