import { fstatSync, readdirSync, readlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";

/** How often is looked again while a file is open, 1 ms apart. */
const mostLooks = 2000;

/**
 * What the descriptors of this process lead to; "" for the one that their folder is read by. Files that were replaced are
 * closed in the background: it waits for that. A file that is open still has leaked.
 */
export async function descriptorTargets(): Promise<string[]> {
  for (let look = 1; ; look++) {
    const descriptors = readdirSync("/proc/self/fd");
    const busy = descriptors.filter((descriptor) => stateOf(descriptor) !== "other");
    // One is gone each time: that of the folder of descriptors.
    if (look === mostLooks || (busy.length === 1 && stateOf(busy[0]!) === "gone"))
      return descriptors.map(targetOf);
    await setTimeout(1);
  }
}

/** Standard input and output may be files. */
function stateOf(descriptor: string): "file" | "gone" | "other" {
  try {
    return Number(descriptor) > 2 && fstatSync(Number(descriptor)).isFile() ? "file" : "other";
  } catch {
    return "gone";
  }
}

function targetOf(descriptor: string): string {
  try {
    return readlinkSync(`/proc/self/fd/${descriptor}`);
  } catch {
    return "";
  }
}
