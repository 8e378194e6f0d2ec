/** Other readings of a query that found nothing, and the maxima of fields. */
import type { StoppedBy } from "../../search/request.ts";

/** The fields of a request that say how its query matches. */
export interface QueryFields {
  readonly query: string;
  readonly patterns?: readonly string[];
  readonly regex: boolean;
  readonly ignore_case: boolean;
  readonly multiline?: boolean;
  readonly invert?: boolean;
  readonly files_without_match?: boolean;
  readonly search_content: boolean;
  readonly search_paths: boolean;
  readonly encoding?: string | undefined;
}

/** Maximum characters of a query that hints read, and maximum queries: some tests take quadratic time. */
const hintedCharacters = 256;
const hintedQueries = 16;

/** Returns hints at fields that might make the query match. Reads only the beginning of a long query. */
export function hintsFor({ query, patterns = [], ...request }: QueryFields): string[] {
  // A wider query would leave fewer lines or files without a match.
  if (request.invert || request.files_without_match) return [];
  const all = [query, ...patterns.slice(0, hintedQueries - 1)].map((one) => one.slice(0, hintedCharacters));
  const searchesContent = request.search_content;
  const hints: [isOfUse: boolean, hint: string][] = [
    [!request.regex && all.some(looksLikeRegex), '"regex": true would read it as a pattern'],
    [!request.regex && request.search_paths && all.some(looksLikeGlob), 'globs go in "include_globs"'],
    [
      searchesContent && !request.multiline && all.some((one) => holdsLineBreak(one, request.regex)),
      '"multiline": true would match across lines',
    ],
    [
      !request.ignore_case &&
        all
          .map((one) => (request.regex ? withoutEscapes(one) : one))
          .some(searchesContent ? hasBothCases : hasCase),
      '"ignore_case": true would ignore case',
    ],
    [
      searchesContent && !request.search_paths && all.some(looksLikePath),
      '"search_paths": true would search paths too',
    ],
    [!searchesContent, "links are not among the paths that are searched"],
    [
      searchesContent && request.encoding === undefined && all.some((one) => /[^\0-\x7f]/.test(one)),
      '"encoding" would search files in another than UTF-8, such as "windows-1252"',
    ],
  ];
  return hints.filter(([isOfUse]) => isOfUse).map(([, hint]) => hint);
}

/**
 * Returns a hint at a query for paths that is the name of something denied, which no search finds. It depends
 * on the query alone. `denies` is the test for the names of a denied path.
 */
export function hintsOnDenied(
  { query, patterns = [], regex, search_paths }: QueryFields,
  denies: (names: readonly string[]) => boolean,
): string[] {
  if (regex || !search_paths) return [];
  const denied = [query, ...patterns.slice(0, hintedQueries - 1)]
    .filter((one) => one !== "" && one.length <= hintedCharacters)
    .find((one) => denies(one.split("/").filter((name) => name !== "" && name !== ".")));
  return denied === undefined
    ? []
    : [`${JSON.stringify(denied)} is denied by the configuration, and denied paths are not searched`];
}

/** The fields that select files in a folder. */
const selections = ["include_globs", "exclude_globs", "file_types", "exclude_file_types"] as const;

/** Returns a hint at the fields of a request that do not apply, because `path` names a file. */
export function hintsOnFile(
  request: Partial<Readonly<Record<(typeof selections)[number], readonly string[]>>>,
): string[] {
  const sent = selections.filter((field) => (request[field]?.length ?? 0) > 0);
  if (sent.length === 0) return [];
  const listed = sent.map((field) => `"${field}"`).join(" and ");
  return [`${listed} ${sent.length === 1 ? "selects" : "select"} in folders only, and "path" is a file`];
}

/** The fields of a request that limit a page. */
interface PageLimits {
  readonly max_bytes?: number;
  readonly deadline_ms?: number;
}

/** Returns a hint at the maximum of the field that ended a page, if the request has a larger value. */
export function hintsOnLimits(
  { max_bytes: bytes = 0, deadline_ms: milliseconds = 0 }: PageLimits,
  stoppedBy: StoppedBy | undefined,
  maxima: { readonly bytes: number; readonly milliseconds: number },
): string[] {
  if (stoppedBy === "max_bytes" && bytes > maxima.bytes)
    return [`max_bytes is at most ${maxima.bytes}, which one message carries`];
  if (stoppedBy === "deadline" && milliseconds > maxima.milliseconds)
    return [`deadline_ms is at most ${maxima.milliseconds}, the time limit of a call`];
  return [];
}

/** Maximum bytes of such a hint in an answer, with its field. */
export const limitHintBytes = 128;

/** A hint at lines with U+FFFD, which files in UTF-8 hardly ever have. */
export const undecodedHint =
  'U+FFFD stands for bytes that are not UTF-8, and a match right after it may be half of a character; "encoding" would decode such files, for example "shift_jis" or "windows-1252"';

/** Returns a hint at texts with the same characters in another form of Unicode, if the query can have one. */
export function hintsOnUnicode({ query, patterns = [], ...request }: QueryFields): string[] {
  if (request.regex || request.invert || request.files_without_match) return [];
  const searched = [query, ...patterns].slice(0, 2 * maxForms);
  const forms = searched.slice(0, maxForms).flatMap((text) => otherForm(text, searched));
  if (forms.length === 0) return [];
  return [`"patterns": [${forms.join(", ")}] would search for another Unicode form of the same characters`];
}

/** Maximum queries that are shown in another form. */
const maxForms = 3;

/**
 * Returns a text in JSON whose characters are decomposed, or composed if they are decomposed already, unless
 * it is searched for too.
 */
function otherForm(query: string, searched: readonly string[]): string[] {
  if (query.length > hintedCharacters) return [];
  const decomposed = query.normalize("NFD");
  const other = decomposed === query ? query.normalize("NFC") : decomposed;
  if (other === query || searched.includes(other)) return [];
  const escaped = (unit: string) => `\\u${unit.charCodeAt(0).toString(16).padStart(4, "0")}`;
  return [JSON.stringify(other).replace(/[^\x20-\x7e]/g, escaped)];
}

/**
 * Tests for sequences that are common in patterns and rare in code; lone brackets, dots and stars are
 * neither.
 */
const looksLikeRegex = (query: string): boolean =>
  /\.[*+]|\\[wWdDsSbB.()[\]{}|*+?^$/]|\S\|\S|^\^|\S\$$|\[\^|\[[^\]]*\w-\w[^\]]*\]|\(\?[:i<!=]|\)[*+?]/.test(
    query,
  );

const looksLikeGlob = (query: string): boolean => /^[\w@./*?-]*\*[\w@./*?-]*$/.test(query);

const holdsLineBreak = (query: string, isRegex: boolean): boolean =>
  query.includes("\n") || (isRegex && /(?<!\\)(?:\\\\)*\\n/.test(query));

const hasCase = (query: string): boolean => query.toLowerCase() !== query.toUpperCase();

/** Tests for letters of both cases: in contents, few words of one case are written differently elsewhere. */
const hasBothCases = (query: string): boolean =>
  query !== query.toLowerCase() && query !== query.toUpperCase();

const withoutEscapes = (pattern: string): string => pattern.replace(/\\(?:[pP]\{[^}]*\}|.)/gu, "");

const looksLikePath = (query: string): boolean =>
  /^[\w@./-]*(?:\/[\w@./-]*|\w\.[A-Za-z]\w{0,4})$/.test(query);
