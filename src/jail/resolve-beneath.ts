import { type Backend, pathIn } from "./backend.ts";
import type { Folding } from "./folding.ts";

/** What a resolution in one step goes by. */
export interface ResolveBeneathRules {
  readonly backend: Backend;
  /** See `WalkRules.denies`. */
  denies(path: string, folding: Folding): boolean;
}

/**
 * What `take` gives for the path of these names below the base, when one step may be tried: the backend can, none of the
 * names steps back, and no folder on the way is denied under the name it was sent with, also if one of them folds names
 * and the backend would see that only by taking them one by one.
 */
export function resolveBeneath<T>(
  { backend, denies }: ResolveBeneathRules,
  names: readonly string[],
  take: (path: string) => T | undefined,
): T | undefined {
  if (!backend.canResolveBeneath || names.length === 0 || names.includes("..")) return undefined;
  const { folding, isFlagged } = backend.naming;
  if (folding === "foreign") return undefined;
  let path = "";
  for (const name of names) {
    path = pathIn(path, name);
    if (denies(path, isFlagged ? "folded" : folding)) return undefined;
  }
  return take(path);
}
