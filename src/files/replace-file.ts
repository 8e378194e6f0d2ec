import { renameSync } from "node:fs";
import type { JailedPath, ResolvedPath } from "../jail/folder.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import type { DeferredClose } from "./deferred-close.ts";
import { type PendingFile, writeAtomically } from "./write.ts";

export interface FileReplacement {
  readonly place: ResolvedPath;
  /** The file that is there, where it could be held. */
  readonly old: DeferredClose | undefined;
  /** Is given its path before it is replaced, and throws to keep it. */
  readonly verify?: (path: JailedPath) => void;
}

/** Puts the draft in the place of a file, in one step. */
export async function replaceFile(
  { place, old, verify }: FileReplacement,
  pending: PendingFile,
  deadline: Deadline,
): Promise<void> {
  await writeAtomically(pending, deadline, (at, temporary) => {
    verify?.(at(place.name));
    renameSync(at(temporary), at(place.name));
    if (old !== undefined) old.isReplaced = true;
  });
}
