/** Hashing of large files before the step that concerns them, in slices, so that no step takes long. */
import { createTimeSlice } from "../../base/scheduling/time-slice.ts";
import { hashAhead, isLarge } from "../files/revision.ts";
import type { HeldEntry } from "./mutation.ts";

/** Maximum bytes of a file whose revision listeners need. */
export const largestHashed = 256 * 1024 * 1024;

/** Hashes a large file of at most `most` bytes. */
export async function hashFileAhead(file: HeldEntry | undefined, most: number): Promise<void> {
  if (file?.kind !== "file" || !isLarge(file) || file.size > most) return;
  await hashAhead((use) => file.read(use), createTimeSlice());
}
