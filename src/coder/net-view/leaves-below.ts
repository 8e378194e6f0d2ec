import { Refusal } from "../../base/errors.ts";
import { createWalkSlice } from "../../base/scheduling/walk-slice.ts";
import { type TreeVisitor, type Visit, walkTree } from "../../filesystem/files/tree-walk.ts";
import { pathIn } from "../../filesystem/jail/backend.ts";
import type { Folder, Jail } from "../../filesystem/jail/folder.ts";
import type { CoderContext } from "../define.ts";
import { maxFilesBelow } from "./files-below.ts";

/**
 * Lists the links, special files and empty folders below a folder, by their paths from the base. Skips
 * entries that the call may not see or that are hidden; a folder that has no others counts as empty.
 */
export async function leavesBelow(
  path: string,
  { jail, deadline, caller }: CoderContext,
  isHidden: (path: string, isFolder: boolean) => boolean = () => false,
): Promise<string[]> {
  using top = openOrNone(jail, path);
  if (top === undefined) return [];
  using slice = createWalkSlice({ deadline, caller });
  const found: string[] = [];
  /** The folders with something in them. */
  const filled = new Set<string>();
  const isSeen = ({ folder, entry: { name, kind } }: Visit): boolean =>
    !jail.deniesIn(folder, name) &&
    !jail.isTemporary(name) &&
    !isHidden(pathIn(folder.path, name), kind === "dir");
  const visitor: TreeVisitor<Disposable> = {
    preorder(visit) {
      const { folder, entry } = visit;
      // One seen file is enough to know that its folder has something in it.
      if (entry.kind === "file" && filled.has(folder.path)) return undefined;
      if (found.length >= maxFilesBelow || !isSeen(visit)) return undefined;
      filled.add(folder.path);
      if (entry.kind === "dir") return { [Symbol.dispose]: () => undefined };
      if (entry.kind !== "file") found.push(pathIn(folder.path, entry.name));
      return undefined;
    },
    open: ({ folder, entry }, seen) => (seen === undefined ? undefined : folder.child(entry.raw)),
    postorder({ folder, entry }, seen) {
      const inside = pathIn(folder.path, entry.name);
      if (seen !== undefined && !filled.has(inside)) found.push(inside);
      filled.delete(inside);
    },
    onUnreadable: () => undefined,
  };
  await walkTree({ slice, deadline, visitor }, top);
  return found;
}

/** Opens a folder, unless it is gone. */
function openOrNone(jail: Jail, path: string): Folder | undefined {
  try {
    return jail.fromBase().admitFolder(path);
  } catch (error) {
    if (error instanceof Refusal) return undefined;
    throw error;
  }
}
