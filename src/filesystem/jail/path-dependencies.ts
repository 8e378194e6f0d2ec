import { pathIn } from "./backend.ts";
import { fold } from "./fold-path.ts";
import type { Jail } from "./folder.ts";

/**
 * Returns the paths, from the base, that decide where a path leads: itself, the target of each link on it,
 * the place that it currently leads to, and the outermost missing folder above that. If none of them, and
 * nothing above or below them, is changed, it leads to the same place. Each is also returned folded, for
 * folders that fold names. Never throws: a malformed path leads nowhere, whatever the tree contains.
 */
export function pathDependencies(path: string, jail: Pick<Jail, "admit" | "plainPath">): readonly string[] {
  const found = new Set<string>();
  const onPath = (one: string) => {
    // Steps back often report one path many times.
    if (found.has(one)) return;
    found.add(one);
    found.add(fold(one));
  };
  try {
    const plain = jail.plainPath(path);
    if (plain !== undefined) {
      onPath(plain);
      return [...found];
    }
    using place = jail.admit(path, { mayBeMissing: true, mayBeFolder: true, parents: true, onPath });
    onPath(place.path);
    const [missing] = place.newFolders;
    if (missing !== undefined) onPath(pathIn(place.folder.path, missing));
  } catch {
    // It leads nowhere at present.
  }
  return [...found];
}
