import { Refusal } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";

/** What `act` returns, or undefined when what it was about is gone: what others remove meanwhile is no reason to stop. */
export function ignoreMissing<T>(act: () => T): T | undefined {
  try {
    return act();
  } catch (error) {
    if (isMissing(error)) return undefined;
    throw error;
  }
}

/** Whether an errno error, or a refusal, says that nothing is there. */
export const isMissing = (error: unknown): boolean =>
  errnoOf(error) === "ENOENT" || (error instanceof Refusal && error.reason === "missing");
