import { close, closeSync, renameSync } from "node:fs";
import type { Deadline } from "../deadline.ts";
import type { JailedPath, Place } from "../jail/folder.ts";
import { type Draft, writeAndPublish } from "./write.ts";

/** Puts the draft in the place of a file, in one step. `verify` is given its path before that, and throws to keep it. */
export async function replaceFile(
  place: Place,
  draft: Draft,
  deadline: Deadline,
  verify?: (path: JailedPath) => void,
): Promise<void> {
  const old = openOld(place);
  try {
    await writeAndPublish(draft, deadline, (at, temporary) => {
      verify?.(at(place.name));
      renameSync(at(temporary), at(place.name));
    });
  } finally {
    if (old !== undefined) letGo(old);
  }
}

/** From so many bytes on it takes long to free a file. */
const largeBytes = 1024 * 1024;

/** Undefined for a small file, and for one that may be written and not read. */
function openOld(place: Place): number | undefined {
  if (place.stats!.size < largeBytes) return undefined;
  try {
    return place.open();
  } catch {
    return undefined;
  }
}

/** Files that are being let go of, at most: the process has few descriptors. */
const mostLettingGo = 8;

let lettingGo = 0;

/**
 * The last to let go of a replaced file waits until the disk has freed it: some milliseconds for 10 MiB that were written
 * a moment ago. Neither the caller nor other calls have to, so it is done in the background.
 */
function letGo(descriptor: number): void {
  if (lettingGo === mostLettingGo) {
    closeSync(descriptor);
    return;
  }
  lettingGo++;
  close(descriptor, () => {
    lettingGo--;
  });
}
