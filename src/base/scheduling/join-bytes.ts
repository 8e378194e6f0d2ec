import type { Steps } from "./time-slice.ts";

/** Parts and bytes that are copied in one step. */
const [partsPerStep, bytesPerStep] = [4096, 512 * 1024];

/** Joins many parts in steps. In one, a million take half a second, and 30 MB take 20 ms. */
export function* joinInSteps(parts: readonly Uint8Array[]): Steps<Buffer> {
  let size = 0;
  for (const { length } of parts) size += length;
  const joined = Buffer.allocUnsafe(size);
  let [at, due] = [0, bytesPerStep];
  for (const [index, part] of parts.entries()) {
    if (at >= due || (index > 0 && index % partsPerStep === 0)) {
      yield;
      due = at + bytesPerStep;
    }
    joined.set(part, at);
    at += part.length;
  }
  return joined;
}
