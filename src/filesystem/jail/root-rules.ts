/** Deny rules for several roots: each root has those for all, and its own. */
import type { DenyRules, RuledFolder } from "./deny-rules.ts";

/** Returns the path from the root `name` of a path from the top that leads into it. */
export const pathInRoot = (name: string, path: string): string =>
  name === "" ? path : path.slice(name.length + 1);

/**
 * Returns the rules for everything in the root `name`: `whole` has paths from the top, `own` has paths from
 * the root.
 */
export function rootRules(name: string, whole: DenyRules, own: DenyRules | undefined): DenyRules {
  if (own === undefined) return whole;
  const inRoot = <P extends { readonly path: string }>(folder: P) => ({
    ...folder,
    path: pathInRoot(name, folder.path),
  });
  const isInside = (path: string) => name === "" || path.length > name.length;
  const depth = name === "" ? 0 : 1;
  return {
    ...whole,
    denies: (path, folding) =>
      whole.denies(path, folding) || (isInside(path) && own.denies(pathInRoot(name, path), folding)),
    deniesIn: (folder, entry) =>
      whole.deniesIn(folder, entry) || own.deniesIn(inRoot(ruledFolderOf(folder)), entry),
    deniesBytesIn: (folder, bytes, from, to) =>
      whole.deniesBytesIn(folder, bytes, from, to) ||
      own.deniesBytesIn(inRoot(ruledFolderOf(folder)), bytes, from, to),
    deniesAny: (names) => whole.deniesAny(names) || own.deniesAny(names.slice(depth)),
    deniesBelow: (names, folding) =>
      whole.deniesBelow(names, folding) || own.deniesBelow(names.slice(depth), folding),
    denyingGlob: (names) => whole.denyingGlob(names) ?? own.denyingGlob(names.slice(depth)),
  };
}

/** Copies the place, because folders have getters, which are not spread. */
const ruledFolderOf = ({ path, folding }: RuledFolder): RuledFolder => ({ path, folding });

/** Finds the rules of a path. */
interface RuledRoots {
  /** Returns the root that a path from the top leads into. */
  at(path: string): { readonly rules: DenyRules } | undefined;
}

/** Returns the rules of all roots together; `top` are those of the top folder, outside all roots. */
export function rulesOfRoots(roots: RuledRoots, top: DenyRules): DenyRules {
  const at = (path: string) => roots.at(path)?.rules ?? top;
  return {
    denies: (path, folding) => at(path).denies(path, folding),
    deniesIn: (folder, name) => at(folder.path || name).deniesIn(folder, name),
    deniesBytesIn: (folder, bytes, from, to) =>
      at(folder.path || bytes.toString("utf8", from, to)).deniesBytesIn(folder, bytes, from, to),
    deniesAny: (names) => at(names[0] ?? "").deniesAny(names),
    deniesBelow: (names, folding) => at(names[0] ?? "").deniesBelow(names, folding),
    denyingGlob: (names) => at(names[0] ?? "").denyingGlob(names),
    isTemporary: top.isTemporary,
    fold: (path, folding) => at(path).fold(path, folding),
  };
}
