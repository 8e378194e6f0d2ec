import { closeSync, lstatSync, openSync } from "node:fs";
import { folderFlags } from "./descriptor-folder.ts";

/** Maximum names of a path that the system follows in one look-up. */
const namesPerLookup = 64;

/**
 * Returns the folders on a host path without links that contain an entry, innermost first. The system follows
 * a path name by name at each look-up, which takes a tenth of a second for all folders of a path with 2,000
 * names. So the look-ups begin at a descriptor of a folder at most 64 names above, if /proc has those.
 */
export function foldersWith(entry: string, path: string): string[] {
  const found: string[] = [];
  let held: number | undefined;
  try {
    let folder = "";
    let prefix = "";
    for (const [index, name] of (path === "/" ? [""] : path.split("/")).entries()) {
      if (index > 0) {
        folder = `${folder}/${name}`;
        prefix = `${prefix}/${name}`;
      }
      if (isThere(`${prefix}/${entry}`)) found.push(folder || "/");
      if (index % namesPerLookup < namesPerLookup - 1) continue;
      const next = holdAt(prefix);
      if (next === undefined) continue;
      if (held !== undefined) closeSync(held);
      held = next;
      prefix = inProc(held);
    }
  } finally {
    if (held !== undefined) closeSync(held);
  }
  return found.reverse();
}

const inProc = (descriptor: number): string => `/proc/self/fd/${descriptor}`;

/** Returns a descriptor of a folder, or `undefined` if it does not exist or /proc has no descriptors. */
function holdAt(path: string): number | undefined {
  try {
    const descriptor = openSync(path, folderFlags);
    if (isThere(`${inProc(descriptor)}/.`)) return descriptor;
    closeSync(descriptor);
  } catch {
    // The folder may be about to be created.
  }
  return undefined;
}

/** Returns whether an entry is there, and not below a file or in a folder that may not be entered. */
function isThere(path: string): boolean {
  try {
    return lstatSync(path, { throwIfNoEntry: false }) !== undefined;
  } catch {
    return false;
  }
}
