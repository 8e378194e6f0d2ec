import { type Refusal, refuse } from "../errors.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Step } from "./steps.ts";

/** Throws what `act` throws as the refusal of the step's change. */
export async function refusing<T>(step: Step, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw refusalOfStep(error, step);
  }
}

function refusalOfStep(error: unknown, step: Step): Refusal {
  const path = step.kind === "rename" ? step.to : step.path;
  const refusal = errnoOf(error) === "EEXIST" ? refuse.exists(path) : refusalOfErrno(error, path);
  return refuse.inChange(refusal, step.change);
}
