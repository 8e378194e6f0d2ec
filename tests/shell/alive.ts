import { existsSync, readFileSync } from "node:fs";
import { until } from "./case.ts";

/** Whether a process runs; one that nobody has reaped does not. */
export function isAlive(pid: number): boolean {
  try {
    process.kill(pid, 0);
    return !readFileSync(`/proc/${pid}/stat`, "utf8").includes(") Z ");
  } catch {
    return false;
  }
}

/** The number that a program writes into a file, once it is there. */
export const pidIn = (file: string): Promise<number> =>
  until(() => (existsSync(file) ? Number(readFileSync(file, "utf8")) || undefined : undefined));

/** Resolves when a process does not run any more. */
export const gone = (pid: number): Promise<true> => until(() => (isAlive(pid) ? undefined : true));
