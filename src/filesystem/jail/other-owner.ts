import { lstatSync } from "node:fs";
import { dirname } from "node:path";

/**
 * Returns, as a part of a sentence, that a host path that was refused (EACCES) belongs to another user, or
 * the nearest folder above it that this user can see. Returns `undefined` if neither does.
 */
export function otherOwnerOf(path: string): string | undefined {
  for (let at = path; ; at = dirname(at)) {
    const uid = ownerOf(at);
    if (uid !== undefined)
      return uid === process.getuid?.() ? undefined : `${at === path ? "it" : at} ${belongsToOther(uid)}`;
    if (at === dirname(at)) return undefined;
  }
}

function ownerOf(path: string): number | undefined {
  try {
    return lstatSync(path, { throwIfNoEntry: false })?.uid;
  } catch {
    return undefined;
  }
}

/** Returns the part of a sentence about the owner of a file or folder. */
export const belongsToOther = (uid: number): string => `belongs to another user (uid ${uid})`;
