import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { DeferredClose } from "./deferred-close.ts";
import { commitFile, type MutationScope } from "./mutate.ts";
import { type PendingFile, writeAtomically } from "./write.ts";

export interface FileReplacement {
  readonly place: ResolvedPath;
  readonly pending: PendingFile;
  /** The file that is there, where it could be held. */
  readonly old: DeferredClose | undefined;
  /** Gets its path before it is replaced, and throws to keep it. */
  readonly verify?: (path: JailedPath) => void;
}

/** Puts the pending file in the place of another, in one step. */
export async function replaceFile(
  scope: MutationScope,
  { place, pending, old, verify }: FileReplacement,
  deadline: Deadline,
): Promise<void> {
  await writeAtomically(pending, deadline, (written) => {
    commitFile(scope, written, { folder: place.folder, name: place.name, isReplacing: true, verify });
    if (old !== undefined) old.isReplaced = true;
  });
}
