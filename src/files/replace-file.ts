import type { ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { DeferredClose } from "./deferred-close.ts";
import type { ReplacedFile } from "./exchange.ts";
import { commitFile, type MutationScope } from "./mutate.ts";
import { type PendingFile, writeAtomically } from "./write.ts";

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
