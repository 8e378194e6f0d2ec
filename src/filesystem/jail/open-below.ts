import type { Folder } from "./folder.ts";

/** Returns the folder that `names` lead to from `folder`, which it closes. Throws the errno error. */
export function openBelow(folder: Folder, names: readonly string[]): Folder {
  let at = folder;
  for (const name of names) {
    using above = at;
    at = above.child(name);
  }
  return at;
}
