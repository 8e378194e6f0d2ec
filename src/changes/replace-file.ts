import type { DeferredClose } from "../disk/deferred-close.ts";
import { commitFile } from "../disk/place.ts";
import type { MutationScope } from "../disk/scope.ts";
import type { ReplacedFile } from "../disk/swap-names.ts";
import { type PendingFile, writeAtomically } from "../disk/write.ts";
import type { ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";

export interface FileReplacement {
  readonly place: ResolvedPath;
  readonly pending: PendingFile;
  /** The existing file, if it could be held. */
  readonly old: DeferredClose | undefined;
  /** Its expected state, if any. */
  readonly expected?: ReplacedFile | undefined;
}

/** Replaces another file by the pending one, in one step. */
export async function replaceFile(
  scope: MutationScope,
  { place, pending, old, expected }: FileReplacement,
  deadline: Deadline,
): Promise<void> {
  await writeAtomically(pending, deadline, (written) => {
    commitFile(scope, written, { folder: place.folder, name: place.name, isReplacing: true, expected });
    if (old !== undefined) old.isReplaced = true;
  });
}
