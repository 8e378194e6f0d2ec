import type { CoderContext } from "../define.ts";
import { folderFilterOf } from "../fields/folder-filter.ts";
import { parseGlobFields } from "../fields/request-globs.ts";

/** Maximum files that are listed of one folder. */
const maxFiles = 10_000;

/** Lists all files below a folder that the call may see, by their paths from the base. */
export async function filesBelow(path: string, context: CoderContext): Promise<string[]> {
  const { deadline, caller, searcher, jail } = context;
  const filter = { use_default_excludes: false, respect_gitignore: false };
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
      maxMatches: maxFiles,
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
