import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** Processor time is counted in steps of 10 ms; a process at rest may still answer, collect garbage or write its log. */
const pollMilliseconds = 200;
const idleTicks = 5;

/** Resolves when a process, with all its threads, has stopped computing; never while it is busy. */
export async function waitUntilIdle(pid: number): Promise<void> {
  let before = ticksOf(pid);
  for (;;) {
    await setTimeout(pollMilliseconds);
    const now = ticksOf(pid);
    if (now - before < idleTicks) return;
    before = now;
  }
}

/** Processor time of a process so far, in user mode and in the kernel (proc(5), /proc/pid/stat, fields 14 and 15). */
function ticksOf(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
