/**
 * Recognizes records that a worker has written in this state folder, for this root. All others are left for a
 * person.
 */
import { isTemporary, makerOf, type TransactionMark } from "../jail/temporary.ts";
import type { FolderIdentity, IntentRecord } from "./record.ts";

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
export function isGenuine({ transaction, maker, state, steps }: IntentRecord, expected: Expected): boolean {
  const keepers = new Set<string>();
  const isOwn = (name: string) => {
    const mark: TransactionMark | undefined = makerOf(name)?.transaction;
    if (mark?.id !== transaction) return false;
    keepers.add(mark.keeper);
    return true;
  };
  const isNamed = (path: string) => path.split("/").every((name) => !isTemporary(name) || isOwn(name));
  return (
    transaction === expected.id &&
    makerOf(maker) !== undefined &&
    state.ino === expected.state.ino &&
    steps.length > 0 &&
    steps.every((step) =>
      step.kind === "rename"
        ? isNamed(step.from) && isNamed(step.to)
        : isNamed(step.path) &&
          (step.kind === "chmod" || isOwn(step.temporary)) &&
          (step.kind !== "exchange" || isOwn(step.aside)),
    ) &&
    keepers.size < 2
  );
}
