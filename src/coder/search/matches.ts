/** The fields of requests and answers for matches in the contents of files (coder §16). */
import { type Static, Type } from "@sinclair/typebox";
import { Named, UInt32 } from "../../base/schema/fragments.ts";
import type { LineOptions } from "../../search/matchers/lines.ts";
import type { UsualFields } from "../../search/warm-up.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import type { CoderContext } from "../define.ts";
import { FileEncoding } from "../fields/file-encoding.ts";
import type { ProfileDefaults } from "../profiles.ts";

const since = "0.4.0";

/** Maximum lines around a match. More lines are better read with `coder::read-file`. */
const maxContext = 10;

const ContextLines = () =>
  Type.Optional(
    Type.Integer({
      format: "uint32",
      minimum: 0,
      maximum: maxContext,
      since,
      description: `At most ${maxContext}.`,
    }),
  );

/**
 * Returns the schema of a Boolean field. A self-explanatory field has no description, since models read these
 * on every turn.
 */
const Flag = (description?: string) =>
  Type.Optional(Type.Boolean({ since, ...(description !== undefined && { description }) }));

export const MatchFields = {
  encoding: FileEncoding(),
  context_lines_after: ContextLines(),
  context_lines_before: ContextLines(),
  every_match: Flag("Every match of a line, with its end."),
  files_without_match: Flag(),
  invert: Flag(),
  mode: Type.Optional(
    Type.Union([Type.Literal("content"), Type.Literal("files"), Type.Literal("counts")], {
      since,
      description: "`files`: which match; `counts`: how often.",
    }),
  ),
  multiline: Flag("Matches may span lines; `.` does so after `(?s)`."),
  patterns: Type.Optional(
    Type.Array(Type.String(), { since, description: "Alternatives to `query`; any may match." }),
  ),
  whole_word: Flag(),
};

const MatchRequest = Type.Object(MatchFields);

/** Returns the options for collecting matches in each file. */
export function lineOptionsOf(
  request: Static<typeof MatchRequest> & { readonly max_line_bytes: number | null },
  context: Pick<CoderContext, "config" | "encodings" | "profile">,
): LineOptions {
  const { profile } = context;
  const shownBytes = shownLineBytes(request, context);
  const { invert = false, files_without_match: withoutMatch = false } = request;
  return {
    maxLineBytes: profile["search.excerpts"] ? wholeLine : shownBytes,
    ...(profile["search.excerpts"] && { excerptBytes: shownBytes }),
    ...encodingOptions(request.encoding, context),
    ...(profile["search.not_searched"] && { findsBinaries: true }),
    linesBefore: request.context_lines_before ?? 0,
    linesAfter: request.context_lines_after ?? 0,
    ...(profile["search.disjoint_context"] && { disjointContext: true }),
    every: isEvery(request, profile),
    mode: withoutMatch ? "files" : (request.mode ?? "content"),
    ...(invert && { invert }),
    ...(withoutMatch && { withoutMatch }),
    ...(profile["search.counts_matches"] && !invert && { countsMatches: true }),
  };
}

/** Returns the options for the encodings of files. */
export function encodingOptions(
  label: string | undefined,
  { profile, encodings: { rules } }: Pick<CoderContext, "encodings" | "profile">,
): Pick<LineOptions, "decodes" | "encoding" | "encodings"> {
  const encoding = requestedEncoding(label);
  if (encoding !== undefined) return { decodes: true, encoding };
  if (!profile["search.decodes"]) return {};
  return { decodes: true, ...(rules.length > 0 && { encodings: rules }) };
}

/** Returns the fields of a search without options, by the defaults of the profile. */
export function usualSearch(context: UsualContext): UsualFields {
  const { config, profile, defaultExcludes, ignoreFiles } = context;
  return {
    lines: lineOptionsOf({ max_line_bytes: null }, context),
    maxFileBytes: config.max_read_bytes,
    ignoreFiles: profile["search.respect_gitignore"] ? ignoreFiles : undefined,
    defaultExcludes: profile["search.use_default_excludes"] ? defaultExcludes : undefined,
  };
}

type UsualContext = Pick<
  CoderContext,
  "config" | "encodings" | "profile" | "defaultExcludes" | "ignoreFiles"
>;

/**
 * Returns whether each match is an entry. Inverted lines have no matches, and if both are counted, entries
 * are lines.
 */
const isEvery = (
  { every_match = false, invert = false, mode }: Static<typeof MatchRequest>,
  profile: ProfileDefaults,
): boolean => every_match && !invert && !(mode === "counts" && profile["search.counts_matches"]);

/** The number of bytes of a line to search, which is larger than any line. */
const wholeLine = 2 ** 31;

/** Returns how many bytes of a line the answer shows at most. */
export const shownLineBytes = (
  { max_line_bytes }: { readonly max_line_bytes: number | null },
  { config, profile }: Pick<CoderContext, "config" | "profile">,
): number => max_line_bytes ?? profile["search.max_line_bytes"] ?? config.search_default_max_line_bytes;

const Later = (description: string) =>
  Type.Optional(Type.Integer({ format: "uint32", minimum: 0, since, description }));
const Lines = (description: string) => Type.Optional(Type.Array(Type.String(), { since, description }));

export const MatchEntry = Named("ContentMatch", {
  after: Lines("Lines after it."),
  before: Lines("Lines before it."),
  column: UInt32(),
  end_column: Later("After the match."),
  end_line: Later("Last line of the match."),
  line: UInt32(),
  path: Type.String(),
  text: Type.String({ description: "Matched line; truncated to `max_line_bytes` and never spans newlines." }),
});

const MatchingFile = Named("MatchingFile", {
  count: Type.Optional(UInt32()),
  matches: Type.Optional(UInt32({ since, description: "In mode counts, if `count` counts lines." })),
  path: Type.String(),
});

/** The list of files that came after the published reference. */
export const FileList = Type.Optional(
  Type.Array(MatchingFile, { since, description: "Files whose contents match, in modes files and counts." }),
);
