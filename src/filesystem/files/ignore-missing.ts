import { Refusal } from "../../base/errors.ts";
import { errnoOf } from "../jail/errno.ts";

/**
 * Returns the result of `act`, or `undefined` if its subject is gone, since a removal by others is not a
 * reason to stop.
 */
export function ignoreMissing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Returns whether an errno error, or a refusal, says that nothing is there. */
export const isMissing = (error: unknown): boolean =>
  errnoOf(error) === "ENOENT" || (error instanceof Refusal && error.reason === "missing");
