import { refuse } from "../errors.ts";
import { compileGlobSet, GlobError, type GlobSet, longestSet } from "../globs/glob-set.ts";

/** The globs in a field of a request; undefined for none. Throws a refusal. */
export function parseGlobs(field: string, globs: readonly string[]): GlobSet | undefined {
  if (globs.length === 0) return undefined;
  try {
    return compileGlobSet(globs, longestSet.ofCaller);
  } catch (error) {
    if (error instanceof GlobError) throw refuse.badGlob(field, error.message);
    throw error;
  }
}
