import { type Static, Type } from "@sinclair/typebox";
import {
  createTimeSlice,
  inOneStep,
  runAtOnce,
  runInSlices,
  type Steps,
} from "../base/scheduling/time-slice.ts";
import { Named, Nullable, UInt32 } from "../base/schema/fragments.ts";
import { Measured } from "../calls/contract/prepared-answer.ts";
import { hasFields } from "../calls/requests/schemas.ts";
import type { Query } from "../search/matchers/query-compiler.ts";
import type { SearchAnswer, SearchRequest } from "../search/request.ts";
import { fileTypeGlobs, UnknownFileType } from "../search/walk/file-types.ts";
import type { GlobSet } from "../text/globs/glob-set.ts";
import { jsonBytes } from "../text/sizes/json-size.ts";
import { refuseCoder } from "./coder-errors.ts";
import { type CoderContext, defaultAnswerBytes, defineCoderFunction } from "./define.ts";
import { FolderFilterFields, folderFilterOf } from "./fields/folder-filter.ts";
import { parseGlobFields } from "./fields/request-globs.ts";
import type { ProfileDefaults } from "./profiles.ts";
import { renderName } from "./render/entry-text.ts";
import { joinLines, renderEach } from "./render/lines.ts";
import { fileLimitOf } from "./search/file-limit.ts";
import {
  hintsFor,
  hintsOnDenied,
  hintsOnFile,
  hintsOnLimits,
  hintsOnUnicode,
  undecodedHint,
} from "./search/hints.ts";
import { FileList, lineOptionsOf, MatchEntry, MatchFields, shownLineBytes } from "./search/matches.ts";
import { PageAnswerFields, PageRequestFields, pageOf, renderPage } from "./search/pages.ts";
import { renderFile, renderMatches, renderTotal } from "./search/text.ts";

const request = Type.Object(
  {
    exclude_globs: Type.Array(Type.String(), {
      default: [],
      description: "Glob patterns (relative to `base_path`) that exclude matching paths.",
    }),
    exclude_file_types: Type.Optional(Type.Array(Type.String(), { since: "0.4.0", isRare: true })),
    file_types: Type.Optional(
      Type.Array(Type.String(), {
        since: "0.4.0",
        description: "By ripgrep's names, such as `ts`.",
      }),
    ),
    ignore_case: Type.Boolean({ default: false }),
    include_globs: Type.Array(Type.String(), {
      default: [],
      description:
        "Glob patterns (relative to `base_path`) that paths must match to be considered. Empty = include everything.",
    }),
    max_line_bytes: Nullable(UInt32(), {
      default: null,
      description:
        "Bytes per line to consider when scanning content; longer lines are truncated for the match snippet.",
    }),
    max_matches: Nullable(UInt32(), {
      default: null,
      description: "Optional explicit cap. Falls back to config when unset.",
    }),
    path: Type.String({
      default: ".",
      description:
        "Folder, relative to `base_path`, scoping the walk. Defaults to `.` (the base itself). Globs and result `path`s remain anchored at `base_path` regardless of this value.",
    }),
    query: Type.String({
      description:
        "Pattern to search for. Treated as a regex when `regex: true`, otherwise as a literal substring.",
    }),
    regex: Type.Boolean({ default: false }),
    search_content: Type.Boolean({ default: true, description: "Search file contents (default true)." }),
    search_paths: Type.Boolean({ default: true, description: "Search file paths (default true)." }),
    include_hidden: Type.Optional(
      Type.Boolean({ since: "0.4.0", description: "Names that begin with a dot (default true)." }),
    ),
    max_file_bytes: Type.Optional(
      UInt32({ since: "0.4.0", isRare: true, description: "At most `max_read_bytes` of the configuration." }),
    ),
    sort: Type.Optional(
      Type.Union([Type.Literal("path"), Type.Literal("modified")], {
        since: "0.4.0",
        description: "`modified`: newest first.",
      }),
    ),
    fuzzy_paths: Type.Optional(
      Type.Boolean({ since: "0.4.0", description: "Paths match by letters in order, best first." }),
    ),
    ...FolderFilterFields,
    ...MatchFields,
    ...PageRequestFields,
  },
  { title: "SearchInput" },
);

const PathMatch = Named("PathMatch", {
  kind: Type.Optional(Type.Literal("file", { since: "0.4.0" })),
  path: Type.String(),
});

const response = Type.Object(
  {
    content_matches: Type.Array(MatchEntry),
    files: FileList,
    hints: Type.Optional(
      Type.Array(Type.String(), {
        since: "0.4.0",
        description: "What other fields would find, or make readable.",
      }),
    ),
    index: Type.Optional(
      Type.Union([Type.Literal("scan"), Type.Literal("verified"), Type.Literal("watched")], {
        since: "0.4.0",
        description:
          "scan: each file was read. verified: files that have not changed since the index has seen that they do not match were not. watched: nor were they looked for.",
      }),
    ),
    path_matches: Type.Array(PathMatch),
    ...PageAnswerFields,
    truncated: Type.Boolean({ description: "True if either match list was cut off at the configured cap." }),
  },
  { title: "SearchOutput" },
);

/** The fields that came after the published reference. */
const laterFields = (Object.keys(request.properties) as (keyof typeof request.properties)[]).filter(
  (field) => "since" in request.properties[field],
);

const hasLaterField = (values: Request): boolean => laterFields.some((field) => values[field] !== undefined);

/** The estimated bytes of a match without its line, for a rather long path. */
const defaultPathBytes = 256;

/** `coder::search`: a literal or regex in contents, paths or both (coder §8). */
export const search = defineCoderFunction({
  id: "coder::search",
  publishedIn: "coder 0.2.0",
  description:
    "Search file contents and/or paths under base_path. Supports literal or regex queries with include/exclude globs; non-accessible files are excluded from both content and path results.",
  summary: "a literal or a regex in contents and paths",
  brief:
    "Search files for a literal, or with `regex` for a Rust regex; with search_content false paths, all for an empty query. Globs are those of `rg -g`.",
  effect: "reads",
  isLong: true,
  paths: [{ at: "/path", access: "list" }],
  request,
  response,
  examples: [
    { title: "A literal, everywhere", request: { query: "TODO" } },
    {
      title: "A regex in the TypeScript sources, contents only",
      request: {
        query: "export (async )?function \\w+",
        regex: true,
        include_globs: ["src/**/*.ts"],
        search_paths: false,
      },
    },
    {
      title: "Files by some letters of their paths, the best three",
      request: { query: "srch tst", fuzzy_paths: true, search_content: false, max_matches: 3 },
    },
  ],
  normalize: (payload, { profile }) => inOneStep(() => withProfileDefaults(payload, profile)),
  answerBytes(request, context) {
    const matches = request.max_matches ?? context.config.search_default_max_matches;
    const ofMatch = defaultPathBytes + shownLineBytes(request, context);
    return Math.min(matches * ofMatch, defaultAnswerBytes.ofSearch);
  },
  async handle(request, context) {
    const { searcher, deadline, caller, onFiles, profile } = context;
    requireQuery(request, context);
    const { answer, bytes, isOfOneFile } = await searcher.search(
      searchRequestOf(request, context),
      { deadline, caller, onFiles },
      context.jail,
    );
    const noting = noteFound(answer, request, context);
    if (answer.content_matches.length < manyMatches) runAtOnce(noting);
    else await runInSlices(noting, createTimeSlice());
    const hints = profile["search.hints"]
      ? [...(isOfOneFile ? hintsOnFile(request) : []), ...hintsOn(answer, request, context)]
      : [];
    const hintedBytes = bytes + jsonBytes({ hints }) - 1;
    if (hints.length === 0 || hintedBytes > context.maxAnswerBytes) return new Measured(answer, bytes);
    const { content_matches, files, ...others } = answer;
    return new Measured({ content_matches, ...(files && { files }), hints, ...others }, hintedBytes);
  },
  *render(
    { content_matches, path_matches, files = [], hints, truncated, ...page },
    { sentence },
    { search_content, cursor, max_file_bytes: maxFileBytes },
  ) {
    const lines = yield* renderMatches(content_matches);
    for (const line of yield* renderEach(files, renderFile)) lines.push(line);
    const paths = yield* renderEach(path_matches, ({ path }) => renderName(path));
    const hasHeading = search_content !== false && paths.length > 0;
    const isCut = truncated && page.stopped_by === undefined;
    const notes = [
      ...(truncated || cursor ? [] : renderTotal(files)),
      ...(isCut ? ["[cut: there is more; narrow path or globs, or raise max_matches]"] : []),
      ...renderPage(page, { isEmpty: lines.length + paths.length === 0, hints, maxFileBytes, sentence }),
    ];
    if (hasHeading && lines.length > 0) lines.push("");
    if (hasHeading) lines.push("[paths that match]");
    for (const line of paths) lines.push(line);
    lines.push(...notes);
    return yield* joinLines(lines);
  },
});

type Request = Static<typeof request>;

/** Minimum matches that are noted in slices. */
const manyMatches = 1000;

/** Notes what the author knows of files by the lines that were found. */
function* noteFound(
  { content_matches: lines }: SearchAnswer,
  { encoding }: Request,
  { shownFiles, author, profile }: CoderContext,
): Steps<void> {
  if (!profile["update-file.stale_lines"]) return;
  // An edit may read the file in another encoding, so its lines could not be compared.
  yield* shownFiles.noteFound(author, lines, { areComparable: encoding === undefined });
}

/** Returns advice on fields that could find something, or show it as it is meant, and their limits. */
function hintsOn(answer: SearchAnswer, request: Request, context: CoderContext): string[] {
  const { jail, deadline, maxAnswerBytes } = context;
  const maxima = { bytes: maxAnswerBytes, milliseconds: deadline.milliseconds };
  const limits = hintsOnLimits(request, answer.stopped_by, maxima);
  if (limits.length > 0) return limits;
  if (isEmpty(answer)) {
    const denied = hintsOnDenied(request, (names) => jail.denies(names));
    // Nothing in the request would find it.
    if (denied.length > 0 && !request.search_content) return denied;
    return [...denied, ...hintsFor(request), ...hintsOnUnicode(request)];
  }
  const mayBeEncoded = request.encoding === undefined && answer.content_matches.some(isUndecoded);
  return mayBeEncoded ? [undecodedHint] : [];
}

const isUndecoded = ({ text }: { readonly text: string }): boolean => text.includes("\ufffd");

/** Returns whether all files were searched, at least one, and nothing was found. */
const isEmpty = ({ content_matches, path_matches, files = [], truncated, searched }: SearchAnswer): boolean =>
  content_matches.length + path_matches.length + files.length === 0 && !truncated && searched?.files !== 0;

/** Returns the payload with the profile's defaults for fields that have others in the published reference. */
function withProfileDefaults(payload: unknown, profile: ProfileDefaults): unknown {
  if (!hasFields(payload) || profile["search.search_paths"] === true) return payload;
  const { search_content, search_paths, fuzzy_paths } = payload as Partial<Request>;
  const isForPaths = search_content === false || fuzzy_paths === true;
  return { ...payload, search_paths: search_paths ?? isForPaths };
}

/** Throws a refusal for an empty query or pattern, and for fields that exclude each other. */
function requireQuery(request: Request, { profile }: Pick<CoderContext, "profile">): void {
  const { query, patterns = [], search_content, search_paths, fuzzy_paths } = request;
  if (patterns.includes("")) throw refuseCoder.emptyPattern();
  if (request.invert && request.multiline) throw refuseCoder.invertedLines();
  if (query === "" && patterns.length === 0) {
    if (!profile["search.lists_paths"]) throw refuseCoder.emptyQuery();
    if (search_content) throw refuseCoder.emptyContentQuery();
  }
  if (!search_content && !search_paths) throw refuseCoder.nothingToSearch();
  if (search_paths && fuzzy_paths) requireFuzzyQuery(request);
}

/** Returns the query. An empty one beside other patterns is ignored. */
function queryOf(
  { query, patterns = [], regex, ignore_case, multiline = false, whole_word: word = false }: Request,
  profile: ProfileDefaults,
): Query {
  const sent = query === "" && patterns.length > 0 ? patterns : [query, ...patterns];
  const withoutReturns = multiline && profile["search.decodes"];
  const isPlain = withoutReturns && !regex;
  const [pattern, ...others] = isPlain ? sent.map((text) => text.replaceAll("\r\n", "\n")) : sent;
  return {
    pattern: pattern!,
    regex,
    ignoreCase: ignore_case,
    multiline,
    ...(withoutReturns && { withoutReturns }),
    ...(word && { word }),
    ...(others.length > 0 && { others }),
  };
}

function searchRequestOf(request: Request, context: CoderContext): SearchRequest {
  const { config, profile, maxAnswerBytes } = context;
  const isExtended = hasLaterField(request) || profile["search.max_bytes"] !== undefined;
  const fileLimit = fileLimitOf({
    max_read_bytes: config.max_read_bytes,
    max_file_bytes: request.max_file_bytes,
    isMultiline: request.multiline ?? false,
  });
  return {
    query: queryOf(request, profile),
    lines: lineOptionsOf(request, context),
    path: request.path,
    mayBeFile: profile["search.takes_files"],
    searchesGivenFile: true,
    ...parseGlobFields(request, profile),
    fileNames: parseFileTypes(request.file_types ?? []),
    otherFileNames: parseFileTypes(request.exclude_file_types ?? []),
    includesHidden: request.include_hidden ?? true,
    ...folderFilterOf("search", request, context),
    maxMatches: request.max_matches ?? config.search_default_max_matches,
    maxFileBytes: fileLimit.max_bytes,
    content: request.search_content,
    paths: request.search_paths,
    fuzzyPaths: request.search_paths && request.query !== "" && (request.fuzzy_paths ?? false),
    maxAnswerBytes,
    sort: request.sort ?? "path",
    page: isExtended ? pageOf(request, fileLimit, context) : undefined,
    isExtended,
  };
}

/** Maximum characters of a query for paths by rank, because the time per path grows with them. */
const maxFuzzyQueryLength = 256;

function requireFuzzyQuery({ query, regex }: { readonly query: string; readonly regex: boolean }): void {
  if (regex) throw refuseCoder.fuzzyRegex();
  if (query.length > maxFuzzyQueryLength) throw refuseCoder.longFuzzyQuery(query.length, maxFuzzyQueryLength);
}

export function parseFileTypes(types: readonly string[]): GlobSet | undefined {
  try {
    return fileTypeGlobs(types);
  } catch (error) {
    if (error instanceof UnknownFileType) throw refuseCoder.unknownFileType(error.message);
    throw error;
  }
}
