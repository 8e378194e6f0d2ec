import { refuse } from "../../base/errors.ts";
import { GlobList, PathGlobs } from "../../search/ignore/path-globs.ts";
import { compileGlobSet, GlobError, type GlobSet, maxSetUnits } from "../../text/globs/glob-set.ts";
import type { ProfileDefaults } from "../profiles.ts";

interface GlobFields {
  readonly include_globs: readonly string[];
  readonly exclude_globs: readonly string[];
}

/** The selection that the globs of a request make, in the dialect of the profile. */
export interface SelectedPaths {
  readonly include: GlobSet | undefined;
  readonly exclude: GlobSet | undefined;
  readonly globs: PathGlobs | undefined;
}

/** The globs of a request without any, which selects everything. */
const everything: SelectedPaths = { include: undefined, exclude: undefined, globs: undefined };

/** Compiles the globs of a request. Throws a refusal. */
export function parseGlobFields(
  { include_globs: include, exclude_globs: exclude }: GlobFields,
  profile: ProfileDefaults,
): SelectedPaths {
  if (profile.globs === "globset")
    return {
      include: parseGlobs("include_globs", include),
      exclude: parseGlobs("exclude_globs", exclude),
      globs: undefined,
    };
  if (include.length + exclude.length === 0) return everything;
  const globs = PathGlobs.of(
    parseGlobList("include_globs", include),
    parseGlobList("exclude_globs", exclude),
  );
  return { include: undefined, exclude: undefined, globs };
}

/** Compiles the globs in a field; `undefined` for an empty list. */
function parseGlobs(field: string, globs: readonly string[]): GlobSet | undefined {
  return globs.length === 0 ? undefined : compiling(field, () => compileGlobSet(globs, maxSetUnits.ofCaller));
}

function parseGlobList(field: "include_globs" | "exclude_globs", globs: readonly string[]): GlobList {
  const list = compiling(field, () => new GlobList(globs));
  const [first] = list.globs;
  if (field === "exclude_globs" && first?.startsWith("!")) throw refuse.takesBackNothing(field, first);
  return list;
}

function compiling<T>(field: string, compile: () => T): T {
  try {
    return compile();
  } catch (error) {
    if (error instanceof GlobError) throw refuse.badGlob(field, error.message);
    throw error;
  }
}
