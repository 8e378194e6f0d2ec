import { fstatSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** Maximum attempts, 1 ms apart. */
const maxAttempts = 2000;

/**
 * Returns the targets of this process's descriptors, "" for the one that lists their folder. Replaced files
 * without a name are closed in the background, so it waits for them. One that stays open has leaked.
 */
export async function descriptorTargets(): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const descriptors = readdirSync("/proc/self/fd");
    const links = descriptors.map(linksOf);
    // Besides the one that lists the folder, another may be closed concurrently.
    const isQuiet = !links.includes(0) && links.filter((count) => count === undefined).length <= 1;
    if (attempt === maxAttempts || isQuiet) return descriptors.map(targetOf);
    await setTimeout(1);
  }
}

/** The descriptors that a process keeps: event loops of threads, and the list of mounts of a watched tree. */
const kept = /^anon_inode:|^\/proc\/\d+\/mountinfo$/;

/**
 * Returns the number of open descriptors, except those that `kept` names. Waits until there are at most
 * `expected`, because a replaced file with another name is also closed in the background.
 */
export async function countDescriptors(expected = Number.POSITIVE_INFINITY): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const targets = await descriptorTargets();
    const open = targets.filter((target) => !kept.test(target)).length;
    if (open <= expected || attempt === maxAttempts) return open;
    await setTimeout(1);
  }
}

/** Returns the current target of each descriptor, "" for the one that lists their folder. Linux only. */
export const readDescriptorTargets = (): string[] => readdirSync("/proc/self/fd").map(targetOf);

/** Returns the number of names of a descriptor's file, or `undefined` if the descriptor is closed. */
function linksOf(descriptor: string): number | undefined {
  try {
    const stats = fstatSync(Number(descriptor));
    return stats.isFile() ? stats.nlink : 1;
  } catch {
    return undefined;
  }
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
