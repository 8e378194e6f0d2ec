import { Refusal, refuse } from "../../base/errors.ts";
import { ConfigError } from "../../config/file.ts";
import type { Step } from "../disk/steps.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import { refuseTransaction } from "./transaction-errors.ts";

/** Thrown if a step finds an entry different from its plan. Nothing was changed. */
export class ChangedMeanwhile extends Error {
  override readonly name = "ChangedMeanwhile";
  readonly refusal: Refusal;

  constructor(refusal: Refusal) {
    super(refusal.message);
    this.refusal = refusal;
  }
}

/**
 * Calls `act`, and turns its errors into the refusal of the step's change; in a `ChangedMeanwhile` if another
 * plan might succeed.
 */
export async function refusing<T>(step: Step, act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    const refusal = refusalOfStep(error, step);
    throw isOfOthers(error) ? new ChangedMeanwhile(refusal) : refusal;
  }
}

/** Calls `act`, which keeps the record of a transaction, and turns its errors into a refusal of that. */
export async function keepingRecord<T>(act: () => T | Promise<T>): Promise<T> {
  try {
    return await act();
  } catch (error) {
    throw refusalOfState(error);
  }
}

/** Returns a refusal for an unusable state folder. It names no host path. */
export function refusalOfState(error: unknown): unknown {
  if (error instanceof ConfigError)
    return refuseTransaction.noRecord("the state folder is not private to this user");
  const code = errnoOf(error);
  return code === undefined ? error : refuseTransaction.noRecord(code);
}

function refusalOfStep(error: unknown, step: Step): Refusal {
  const code = errnoOf(error);
  const path = pathOf(step, code);
  const refusal = code === "EEXIST" ? refuse.exists(path) : refusalOfErrno(error, path);
  return refuse.inChange(refusal, step.change);
}

/** Returns the path that a failed step is about. A new name is free, so a mount is never there. */
function pathOf(step: Step, code: string | undefined): string {
  if (step.kind !== "rename") return step.path;
  return code === "EBUSY" || code === "EXDEV" ? step.from : step.to;
}

/**
 * Returns whether the error means that an entry was removed or replaced since the plan, which would have
 * refused it otherwise.
 */
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
