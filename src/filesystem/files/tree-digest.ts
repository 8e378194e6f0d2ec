import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { createWalkSlice, type Walker } from "../../base/scheduling/walk-slice.ts";
import { pathIn } from "../jail/backend.ts";
import type { Folder, Name } from "../jail/folder.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { walkTree } from "./tree-walk.ts";
import type { Entry } from "./types.ts";

/**
 * Returns a digest of the names in the folder `name`, however deep, and of the facts that change with each
 * entry: inode, size, mode and times. It stays the same if that folder gets another name. `onEntry` receives
 * each entry. Throws the errno error.
 */
export async function digestOfTree(
  { folder, name }: { readonly folder: Folder; readonly name: Name },
  walker: Walker,
  onEntry: (entry: Entry) => void = () => {},
): Promise<string> {
  const hash = createHash("sha256");
  using inside = folder.child(name);
  using slice = createWalkSlice(walker);
  const visitor = {
    preorder({ folder: outer, entry }: { readonly folder: Folder; readonly entry: Entry }) {
      onEntry(entry);
      const path = pathIn(outer.path.slice(inside.path.length), entry.name);
      hash.update(JSON.stringify([path, factsOf(outer, entry)]));
      return undefined;
    },
  };
  await walkTree({ slice, deadline: walker.deadline, visitor }, inside);
  return hash.digest("hex");
}

/** Returns the facts about an entry, or `undefined` if it is gone, which differs from any earlier facts. */
function factsOf(folder: Folder, { raw }: Entry): string | undefined {
  const stats = ignoreMissing(() => folder.enter((at) => lstatSync(at(raw), { bigint: true })));
  return stats && [stats.ino, stats.size, stats.mode, stats.mtimeNs, stats.ctimeNs].join(" ");
}
