/** Answers the facts about each file that globs select, without its content (coder §15). */
import type { PageFields, SearchRequest } from "../../search/request.ts";
import type { CoderContext } from "../define.ts";
import { folderFilterOf } from "../fields/folder-filter.ts";
import { parseGlobFields } from "../fields/request-globs.ts";
import type { ReadResult } from "./answer.ts";
import { optionsOfStat, type ReadOptions, type ReadRequest } from "./options.ts";
import { refuseRead } from "./read-errors.ts";
import { viewFile } from "./view.ts";

/** Maximum files that one call compares, because counting the lines of 20,000 takes seconds. */
const maxComparedFiles = 20_000;

/** Maximum files in an answer. */
const maxListedFiles = 100;

interface FilesAnswer extends Partial<Pick<PageFields, "not_searched" | "unmatched_globs">> {
  readonly results: readonly ReadResult[];
  readonly total_files: number;
}

/**
 * Answers the first files in the order of the request, each with its facts. Throws a refusal if too many
 * match.
 */
export async function statFiles(request: ReadRequest, context: CoderContext): Promise<FilesAnswer> {
  const options = optionsOfStat(request, context.profile);
  const { deadline, caller, searcher, jail } = context;
  const found = await searcher.search(walkOf(request, context), { deadline, caller }, jail);
  const { path_matches: matches, truncated, not_searched, unmatched_globs } = found.answer;
  deadline.check();
  if (truncated || matches.length > maxComparedFiles) throw refuseRead.tooManyFiles(maxComparedFiles);
  const paths = matches.map(({ path }) => path);
  const results = await firstOf(paths, { sort: request.sort, options }, context);
  return {
    results,
    total_files: paths.length,
    ...(not_searched && { not_searched: not_searched }),
    ...(unmatched_globs && { unmatched_globs: unmatched_globs }),
  };
}

/** Returns a search of paths for all files that the globs select. */
const walkOf = (request: ReadRequest, context: CoderContext): SearchRequest => ({
  query: { pattern: "", regex: false, ignoreCase: false, multiline: false },
  lines: { maxLineBytes: 0, linesBefore: 0, linesAfter: 0, every: false, mode: "content" },
  path: request.path ?? ".",
  ...parseGlobFields({ include_globs: request.include_globs ?? [], exclude_globs: [] }, context.profile),
  fileNames: undefined,
  otherFileNames: undefined,
  ...folderFilterOf("search", {}, context),
  maxMatches: maxComparedFiles,
  maxFileBytes: Number.POSITIVE_INFINITY,
  content: false,
  paths: true,
  maxAnswerBytes: context.maxAnswerBytes,
  isExtended: true,
  page: {
    maxBytes: Number.POSITIVE_INFINITY,
    milliseconds: undefined,
    after: undefined,
    seal: () => "",
    namesLeftOut: true,
  },
});

type Sort = NonNullable<ReadRequest["sort"]>;

interface Selection {
  readonly sort: Sort | undefined;
  readonly options: ReadOptions;
}

/**
 * Returns the facts about the first files in the order `sort`. Reads the others only if the order requires
 * it.
 */
async function firstOf(
  paths: readonly string[],
  { sort = "path", options }: Selection,
  context: CoderContext,
): Promise<ReadResult[]> {
  if (sort === "lines") return cut(largestFirst(await readAll(paths, options, context), linesOf));
  const sorted = sort === "path" ? paths : await sortByStats(paths, sort, context);
  return readAll(cut(sorted), options, context);
}

const cut = <T>(files: readonly T[]): T[] => files.slice(0, maxListedFiles);

/** Sorts stably, so that equal files stay in the order of their paths. */
const largestFirst = <T>(files: readonly T[], rankOf: (file: T) => number): T[] =>
  files
    .map((file) => ({ file, value: rankOf(file) }))
    .sort((one, other) => other.value - one.value)
    .map(({ file }) => file);

/** A file whose lines were not counted is too large to be read at once, so it comes first. */
const linesOf = ({ total_lines, binary, success }: ReadResult): number =>
  success && binary === undefined ? (total_lines ?? Number.MAX_SAFE_INTEGER) : -1;

/** Sorts by stats, without entries that have been removed. */
async function sortByStats(
  paths: readonly string[],
  sort: Exclude<Sort, "path" | "lines">,
  context: CoderContext,
): Promise<string[]> {
  const sized: { readonly path: string; readonly value: number }[] = [];
  for (const path of paths) {
    const found = await context.attempt(() => {
      using place = context.jail.resolveForRead(path);
      return sort === "size" ? place.stats!.size : place.stats!.mtimeMs;
    });
    context.deadline.check();
    if ("value" in found) sized.push({ path, value: found.value });
  }
  return largestFirst(sized, ({ value }) => value).map(({ path }) => path);
}

async function readAll(
  paths: readonly string[],
  options: ReadOptions,
  context: CoderContext,
): Promise<ReadResult[]> {
  const results: ReadResult[] = [];
  for (const path of paths) {
    const outcome = await context.attempt(async () => (await viewFile({ path, options, context })).answer);
    context.deadline.check();
    results.push(
      "error" in outcome
        ? { path, success: false, error: outcome.error.text }
        : { ...outcome.value, path, success: true },
    );
  }
  return results;
}
