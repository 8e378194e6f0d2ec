/** The refusal of the removal of a folder that stopped after it had begun. */
import { type Refusal, refuse } from "../../base/errors.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { RemovalProgress } from "./require-allowed.ts";

interface Records {
  /** The checkpoint of the call, if the journal has one. */
  readonly seq: number | undefined;
  /** The paths of that checkpoint which the removal is about, if the call has others. */
  readonly paths?: readonly string[];
  /** The number of its changes that the journal could not keep. */
  readonly losses: number;
  /** Words the error at the entry where the removal stopped. */
  readonly inWords?: (cause: Refusal) => Refusal;
  /** Names that entry, whose path is given from the base, as the caller names paths. */
  readonly nameOf?: (path: string) => string;
}

/** Returns the refusal of a removal for an error of the system. */
export const refusalOfRemoval = (error: unknown, path: string): Refusal =>
  errnoOf(error) === "ESTALE" ? refuse.replacedAgain(path) : refusalOfErrno(error, path);

/** Adds to the refusal of the removal of a folder what is gone already, and how to get it back. */
export function explainStop(
  refusal: Refusal,
  path: string,
  { removed, stop }: RemovalProgress,
  { seq, paths, losses, inWords = (cause) => cause, nameOf = (at) => at }: Records,
): Refusal {
  if (removed === 0 && stop === undefined) return refusal;
  const cause = stop === undefined ? refusal : causeOf(stop.error, nameOf(stop.path));
  return refuse.partlyRemoved(inWords(cause), path, { removed, seq, paths, losses });
}

const causeOf = (error: unknown, path: string): Refusal =>
  errnoOf(error) === "ENOTEMPTY" ? refuse.refilledInside(path) : refusalOfRemoval(error, path);
