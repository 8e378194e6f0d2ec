import { errnoOf } from "../jail/errno.ts";

/** Maximum times to make a step while other programs replace its entry or write to it. */
const maxTries = 3;

/**
 * Makes a step, again if it throws ESTALE. At last the entry may have been written to, since a program may
 * never stop writing.
 */
export function retryStale(make: (mayBeWritten: boolean) => void): void {
  for (let left = maxTries; ; left--) {
    try {
      make(left === 1);
      return;
    } catch (error) {
      if (left === 1 || errnoOf(error) !== "ESTALE") throw error;
    }
  }
}
