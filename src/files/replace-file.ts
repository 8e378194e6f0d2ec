import { renameSync } from "node:fs";
import type { Deadline } from "../deadline.ts";
import type { JailedPath, Place } from "../jail/folder.ts";
import type { OldFile } from "./old-file.ts";
import { type Draft, writeAndPublish } from "./write.ts";

export interface Replacement {
  readonly place: Place;
  /** The file that is there, where it could be held. */
  readonly old: OldFile | undefined;
  /** Is given its path before it is replaced, and throws to keep it. */
  readonly verify?: (path: JailedPath) => void;
}

/** Puts the draft in the place of a file, in one step. */
export async function replaceFile(
  { place, old, verify }: Replacement,
  draft: Draft,
  deadline: Deadline,
): Promise<void> {
  await writeAndPublish(draft, deadline, (at, temporary) => {
    verify?.(at(place.name));
    renameSync(at(temporary), at(place.name));
    if (old !== undefined) old.isReplaced = true;
  });
}
