import { writeSync } from "node:fs";
import type { Kernel } from "./kernel.ts";

/** Returns a descriptor of a program in memory. Throws if the system has no further descriptors. */
export function makeImage(kernel: Kernel, content: Buffer): number {
  const descriptor = kernel.createFile("launcher");
  if (descriptor === undefined) throw new Error("no file in memory can be made");
  writeSync(descriptor, content);
  return descriptor;
}
