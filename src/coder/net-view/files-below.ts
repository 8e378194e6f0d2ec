import type { CoderContext } from "../define.ts";
import { folderFilterOf } from "../fields/folder-filter.ts";
import { parseGlobFields } from "../fields/request-globs.ts";

/** Maximum files that are listed of one folder. */
export const maxFilesBelow = 10_000;

/**
 * Lists the files below a folder that the call may see, all or those that no ignore file names, by their
 * paths from the base.
 */
export async function filesBelow(
  path: string,
  context: CoderContext,
  { leavesOutIgnored = false } = {},
): Promise<string[]> {
  const { deadline, caller, searcher, jail } = context;
  const filter = { use_default_excludes: false, respect_gitignore: leavesOutIgnored };
  const { answer } = await searcher.search(
    {
      query: { pattern: "", regex: false, ignoreCase: false, multiline: false },
      lines: { maxLineBytes: 0, linesBefore: 0, linesAfter: 0, every: false, mode: "content" },
      path,
      ...parseGlobFields({ include_globs: [], exclude_globs: [] }, context.profile),
      fileNames: undefined,
      otherFileNames: undefined,
      ...folderFilterOf("search", filter, context),
      includesHidden: true,
      maxMatches: maxFilesBelow,
      maxFileBytes: Number.POSITIVE_INFINITY,
      content: false,
      paths: true,
      maxAnswerBytes: context.maxAnswerBytes,
    },
    { deadline, caller },
    jail.fromBase(),
  );
  deadline.check();
  return answer.path_matches.map((match) => match.path);
}
