import type { Backend, HeldFolder } from "./backend.ts";
import type { Folding } from "./name-comparison.ts";

/** The rules of a resolution in one step. */
export interface ResolveBeneathRules {
  readonly backend: Backend;
  /** Documented at `DenyRules.deniesBelow`. */
  deniesBelow(names: readonly string[], folding: Folding): boolean;
}

/**
 * Returns the result of `take` for the path of these names below the base. Returns `undefined` if one step
 * may not be tried: the backend cannot, one of the names is `..`, or one of them is denied, also in folded
 * spelling if folders may have the flag, since only a walk name by name shows which do.
 */
export function resolveBeneath<T>(
  { backend, deniesBelow }: ResolveBeneathRules,
  names: readonly string[],
  take: (path: string) => T | undefined,
): T | undefined {
  if (!backend.canResolveBeneath || names.length === 0 || names.includes("..")) return undefined;
  const { folding, isFlagged } = backend.naming;
  if (folding === "foreign") return undefined;
  if (deniesBelow(names, isFlagged ? "folded" : folding)) return undefined;
  return take(names.join("/"));
}

/**
 * Opens the folder that these names below the base lead to, in one step, or returns `undefined` if that may
 * not be tried or fails. Folders that may have the flag for folding are opened one by one, because each
 * decides how names below it compare.
 */
export function openFolderBeneath(
  rules: ResolveBeneathRules,
  base: HeldFolder,
  names: readonly string[],
): HeldFolder | undefined {
  if (rules.backend.naming.isFlagged) return undefined;
  return resolveBeneath(rules, names, (path) => base.openFolderBeneath?.(path));
}
