import { readFileSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/**
 * The kernel counts processor time in ticks of 10 ms. An idle process may still answer, collect garbage or
 * write its log, so fewer than `idleTicks` between two polls count as idle.
 */
const pollMilliseconds = 200;
const idleTicks = 5;

/** Resolves when no thread of a process computes any longer. */
export async function waitUntilIdle(pid: number): Promise<void> {
  let before = ticksOf(pid);
  for (;;) {
    await setTimeout(pollMilliseconds);
    const now = ticksOf(pid);
    if (now - before < idleTicks) return;
    before = now;
  }
}

/** Returns the user and system time of a process in ticks (proc(5), /proc/pid/stat, fields 14 and 15). */
function ticksOf(pid: number): number {
  const [, rest = ""] = readFileSync(`/proc/${pid}/stat`, "utf8").split(") ");
  const fields = rest.split(" ");
  return Number(fields[11]) + Number(fields[12]);
}
