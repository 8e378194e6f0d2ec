/** The entries of folders that search and tree leave out (coder §16). */
import { Type } from "@sinclair/typebox";
import type { IgnoreFiles } from "../../search/ignore/ignore-files.ts";
import type { ExcludeGlobs } from "../../text/globs/exclude-globs.ts";
import type { CoderContext } from "../define.ts";

const since = "0.4.0";

export const FolderFilterFields = {
  respect_gitignore: Type.Optional(Type.Boolean({ since })),
  use_default_excludes: Type.Optional(
    Type.Boolean({ since, description: "Leave out `node_modules` and the like." }),
  ),
};

interface Request {
  readonly respect_gitignore?: boolean;
  readonly use_default_excludes?: boolean;
}

export interface FolderFilter {
  /** The rules of ignore files, or `undefined` to search ignored entries too. */
  readonly ignoreFiles: IgnoreFiles | undefined;
  readonly defaultExcludes: ExcludeGlobs | undefined;
}

/** Returns the filter of a request, with the defaults of the profile. */
export function folderFilterOf(
  name: "search" | "tree",
  { respect_gitignore, use_default_excludes }: Request,
  { profile, defaultExcludes, ignoreFiles }: CoderContext,
): FolderFilter {
  const excludes = use_default_excludes ?? profile[`${name}.use_default_excludes`];
  const respectsIgnoreFiles = respect_gitignore ?? profile[`${name}.respect_gitignore`];
  return {
    ignoreFiles: respectsIgnoreFiles ? ignoreFiles : undefined,
    defaultExcludes: excludes ? defaultExcludes : undefined,
  };
}
