import { writeSync } from "node:fs";
import type { Kernel } from "./kernel.ts";

/** A program in memory, as a descriptor. Throws when the system has no more of them. */
export function makeImage(kernel: Kernel, content: Buffer): number {
  const descriptor = kernel.createFile("launcher");
  if (descriptor === undefined) throw new Error("no file in memory can be made");
  writeSync(descriptor, content);
  return descriptor;
}
