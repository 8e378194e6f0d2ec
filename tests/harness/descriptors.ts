import { fstatSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** How often is looked again, 1 ms apart. */
const maxAttempts = 2000;

/**
 * What the descriptors of this process lead to; "" for the one that their folder is read by. Files that were replaced, and
 * have no name any more, are closed in the background: it waits for that. One that stays open has leaked.
 */
export async function descriptorTargets(): Promise<string[]> {
  for (let attempt = 1; ; attempt++) {
    const descriptors = readdirSync("/proc/self/fd");
    const links = descriptors.map(linksOf);
    // Besides the one that the folder is read by, another may be closed meanwhile.
    const isQuiet = !links.includes(0) && links.filter((count) => count === undefined).length <= 1;
    if (attempt === maxAttempts || isQuiet) return descriptors.map(targetOf);
    await setTimeout(1);
  }
}

/**
 * How many descriptors are open, but for those of event loops: a thread that starts has two, and stays. Waits until there
 * are no more than `expected`: a replaced file that others gave another name is closed in the background too.
 */
export async function countDescriptors(expected = Number.POSITIVE_INFINITY): Promise<number> {
  for (let attempt = 1; ; attempt++) {
    const targets = await descriptorTargets();
    const open = targets.filter((target) => !target.startsWith("anon_inode:")).length;
    if (open <= expected || attempt === maxAttempts) return open;
    await setTimeout(1);
  }
}

/** What each descriptor leads to at this moment; "" for the one that their folder is read by. Linux only. */
export const readDescriptorTargets = (): string[] => readdirSync("/proc/self/fd").map(targetOf);

/** How many names it has; undefined when it is not open any more. */
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
