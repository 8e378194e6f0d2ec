import { createHash } from "node:crypto";
import { lstatSync } from "node:fs";
import { pathIn } from "../jail/backend.ts";
import type { Folder, Name } from "../jail/folder.ts";
import { createWalkSlice, type Walker } from "../scheduling/walk-slice.ts";
import { ignoreMissing } from "./ignore-missing.ts";
import { walkTree } from "./tree-walk.ts";
import type { Entry } from "./types.ts";

/**
 * A digest of the names in the folder `name`, however deep, and of what changes with each entry: inode, size, mode and times.
 * It stays the same when that folder gets another name. `onEntry` gets each entry. Throws the errno error.
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

/** What is gone by now is no longer the same either. */
function factsOf(folder: Folder, { raw }: Entry): string | undefined {
  const stats = ignoreMissing(() => folder.enter((at) => lstatSync(at(raw), { bigint: true })));
  return stats && [stats.ino, stats.size, stats.mode, stats.mtimeNs, stats.ctimeNs].join(" ");
}
