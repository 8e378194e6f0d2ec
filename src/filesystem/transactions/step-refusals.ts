import { Refusal, refuse } from "../../base/errors.ts";
import type { Step } from "../disk/steps.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";

/** A step found something else than it was planned with, and nothing was changed. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * Throws what `act` throws as the refusal of the step's change, in a `ChangedMeanwhile` where another plan
 * may do.
 */
export async function refusing<T>(step: Step, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const refusal = refusalOfStep(error, step);
    throw isOfOthers(error) ? new ChangedMeanwhile(refusal) : refusal;
  }
}

function refusalOfStep(error: unknown, step: Step): Refusal {
  const path = step.kind === "rename" ? step.to : step.path;
  const refusal = errnoOf(error) === "EEXIST" ? refuse.exists(path) : refusalOfErrno(error, path);
  return refuse.inChange(refusal, step.change);
}

/** What was looked at is gone, or is something else: the plan has refused that if it was there before. */
const isOfOthers = (error: unknown): boolean =>
  error instanceof Refusal ? reasons.has(error.reason) : codes.has(errnoOf(error));

const reasons: ReadonlySet<string> = new Set([
  "missing",
  "wrong-kind",
  "outside",
  "denied",
  "denied-by-rule",
  "exists",
]);
const codes: ReadonlySet<string | undefined> = new Set(["ESTALE", "ENOENT", "ENOTDIR", "ELOOP", "EEXIST"]);
