/**
 * Recognizes records that a worker has written in this state folder, for this root. All others are left for a
 * person.
 */
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { isTemporary, makerOf, type TransactionMark } from "../jail/temporary.ts";
import type { FolderIdentity, IntendedStep, IntentRecord } from "./record.ts";

interface Expected {
  /** The id in the name of its file. */
  readonly id: string;
  /** The folder that contains the records. */
  readonly state: FolderIdentity;
}

/**
 * Returns whether the record belongs to this transaction, was written in this state folder, and uses
 * temporary names for entries of the transaction only.
 */
export function* isGenuine(
  { transaction, maker, state, steps }: IntentRecord,
  expected: Expected,
): Steps<boolean> {
  const keepers = new Set<string>();
  const isOwn = (name: string) => {
    const mark: TransactionMark | undefined = makerOf(name)?.transaction;
    if (mark?.id !== transaction) return false;
    keepers.add(mark.keeper);
    return true;
  };
  const isNamed = (path: string) => path.split("/").every((name) => !isTemporary(name) || isOwn(name));
  const hasOwnNames = (step: IntendedStep) =>
    step.kind === "rename"
      ? isNamed(step.from) && isNamed(step.to)
      : isNamed(step.path) &&
        (step.kind === "chmod" || isOwn(step.temporary)) &&
        (step.kind !== "exchange" || isOwn(step.aside));
  if (transaction !== expected.id || makerOf(maker) === undefined) return false;
  if (state.ino !== expected.state.ino || steps.length === 0) return false;
  for (const step of steps) {
    if (!hasOwnNames(step)) return false;
    yield;
  }
  return keepers.size < 2;
}
