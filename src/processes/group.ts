/** A process group, signalled as one (kill(2) with a negative id): what a program started goes with it. */
import { setTimeout as sleep } from "node:timers/promises";

/** How often a group that was asked to end is looked at, in milliseconds. */
const lookEvery = 5;

/**
 * Sends a signal to every process of a group; 0 only asks. "gone": there is no such group. "forbidden": the
 * processes belong to another user.
 */
export function signalGroup(group: number, signal: "SIGTERM" | "SIGKILL" | 0): "sent" | "gone" | "forbidden" {
  try {
    process.kill(-group, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "forbidden" : "gone";
  }
}

/** Asks a group to end, and after `graceMs` milliseconds kills it. Resolves when that is done; never rejects. */
export async function endGroup(group: number, graceMs: number): Promise<void> {
  let answer = signalGroup(group, "SIGTERM");
  const end = performance.now() + graceMs;
  // A group sends no event when its last process is gone; and one whose zombies nobody reaps never goes.
  while (answer === "sent" && performance.now() < end) {
    await sleep(lookEvery);
    answer = signalGroup(group, 0);
  }
  if (answer === "sent") signalGroup(group, "SIGKILL");
}
