import { closeSync, writeSync } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Kernel } from "./kernel.ts";

/**
 * Makes a program in memory, one part in each step, and returns its descriptor. Throws if the system has no
 * further descriptors.
 */
export function* makeImage(kernel: Kernel, parts: readonly Buffer[]): Steps<number> {
  const descriptor = kernel.createFile("launcher");
  if (descriptor === undefined) throw new Error("no file in memory can be made");
  let isMade = false;
  try {
    for (const part of parts) {
      writeSync(descriptor, part);
      yield;
    }
    isMade = true;
    return descriptor;
  } finally {
    if (!isMade) closeSync(descriptor);
  }
}
