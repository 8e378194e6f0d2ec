/** A search in pages: the fields of the request, and of the answer (coder §16). */
import { type Static, Type } from "@sinclair/typebox";
import { UInt32, UInt64 } from "../../base/schema/fragments.ts";
import type { Wording } from "../../calls/contract/wording.ts";
import { isOfWindows } from "../../calls/requests/mistaken-paths.ts";
import type { FileLimit, PageRequest } from "../../search/request.ts";
import { refuseCoder } from "../coder-errors.ts";
import type { CoderContext } from "../define.ts";
import { renderName } from "../render/entry-text.ts";
import { renderFileLimit } from "./file-limit.ts";
import { limitHintBytes } from "./hints.ts";

const since = "0.4.0";

export const PageRequestFields = {
  cursor: Type.Optional(
    Type.String({ since, description: "From the answer before; other fields unchanged." }),
  ),
  deadline_ms: Type.Optional(
    UInt32({ since, isRare: true, description: "At most the time limit of the call." }),
  ),
  max_bytes: Type.Optional(UInt32({ since, description: "Of JSON; as text it is shorter." })),
};

export const LeftOutFields = {
  not_searched: Type.Optional(
    Type.Array(
      Type.Object({
        also_ignored: Type.Optional(
          Type.Boolean({
            description: "Ignore files also name some of these, which default excludes leave out.",
          }),
        ),
        count: UInt64(),
        max_bytes: Type.Optional(UInt64({ description: "Of `too_large`: the maximum size." })),
        names: Type.Optional(Type.Array(Type.String(), { description: "The first of them." })),
        reason: Type.Union([
          Type.Literal("default_excludes"),
          Type.Literal("ignore_files"),
          Type.Literal("denied"),
          Type.Literal("binary"),
          Type.Literal("too_large"),
          Type.Literal("unreadable"),
          Type.Literal("long_lines"),
          Type.Literal("root_gone"),
        ]),
        set_by: Type.Optional(
          Type.Union(
            [
              Type.Literal("max_read_bytes"),
              Type.Literal("max_write_bytes"),
              Type.Literal("multiline"),
              Type.Literal("max_file_bytes"),
            ],
            { description: "The key of the configuration, or the field, that sets `max_bytes`." },
          ),
        ),
      }),
      { since, description: "Files and folders that were not searched, and why." },
    ),
  ),
  unmatched_globs: Type.Optional(
    Type.Array(
      Type.Object({
        field: Type.Union([Type.Literal("include_globs"), Type.Literal("exclude_globs")]),
        glob: Type.String(),
        instead: Type.Optional(Type.String({ description: "The glob with `/` between names, not `\\`." })),
        only_folders: Type.Optional(Type.Literal(true)),
      }),
      { since, description: "Globs that matched nothing, or only folders, which include no file." },
    ),
  ),
};

export const PageAnswerFields = {
  next_cursor: Type.Optional(Type.String({ since, description: "The start of the next page, if any." })),
  not_searched: LeftOutFields.not_searched,
  searched: Type.Optional(Type.Object({ bytes: UInt64(), files: UInt64() }, { since })),
  skipped: Type.Optional(
    Type.Object(
      {
        binary: UInt64(),
        excluded: UInt64(),
        long_lines: UInt64(),
        too_large: UInt64(),
        unreadable: UInt64(),
      },
      { since },
    ),
  ),
  stopped_by: Type.Optional(
    Type.Union([Type.Literal("max_matches"), Type.Literal("max_bytes"), Type.Literal("deadline")], { since }),
  ),
  unmatched_globs: LeftOutFields.unmatched_globs,
};

const PageFieldsRequest = Type.Object(PageRequestFields);
const PageAnswer = Type.Object(PageAnswerFields);

type PageServices = Pick<CoderContext, "profile" | "searcher" | "maxAnswerBytes">;

/** Returns the requested page. Throws a refusal. */
export function pageOf(
  request: Static<typeof PageFieldsRequest>,
  fileLimit: FileLimit,
  { profile, searcher: { cursors }, maxAnswerBytes }: PageServices,
): PageRequest {
  const { cursor, deadline_ms: milliseconds } = request;
  const requested = request.max_bytes ?? profile["search.max_bytes"];
  const isOver = requested !== undefined && requested > maxAnswerBytes && profile["search.hints"];
  const maxBytes = isOver ? maxAnswerBytes - limitHintBytes : requested;
  const query = describeQuery(request);
  const after = cursor === undefined ? undefined : cursors.open(query, cursor);
  if (cursor !== undefined && after === undefined) throw refuseCoder.badCursor(cursor);
  return {
    maxBytes: maxBytes ?? Number.POSITIVE_INFINITY,
    milliseconds,
    after,
    seal: (place) => cursors.seal(query, place),
    namesLeftOut: profile["search.not_searched"],
    fileLimit,
  };
}

/** The fields that may differ from page to page. */
const fieldsOfPages: ReadonlySet<string> = new Set([...Object.keys(PageRequestFields), "max_matches"]);

/** Returns the rest of the request, in a form that does not depend on the order of its fields. */
const describeQuery = (request: object): string =>
  JSON.stringify(
    Object.entries(request)
      .filter(([field]) => !fieldsOfPages.has(field))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

type Page = Static<typeof PageAnswer>;
type UnmatchedGlob = NonNullable<Page["unmatched_globs"]>[number];
type NotSearched = NonNullable<Page["not_searched"]>[number];

/** The call of a page, and what is known of it besides the page. */
interface PageContext {
  readonly isEmpty: boolean;
  /** The fields that could make the query of an empty answer match, or show its matches as they are meant. */
  readonly hints?: readonly string[] | undefined;
  /** The `max_file_bytes` of the call, if any. */
  readonly maxFileBytes?: number | undefined;
  readonly sentence: Wording["sentence"];
}

/**
 * Renders, as lines for models, the parts that an answer leaves out and how to continue. A complete answer
 * with matches has no such line.
 */
export function renderPage(page: Page, context: PageContext): string[] {
  const { isEmpty, hints = [] } = context;
  const { next_cursor, stopped_by, unmatched_globs } = page;
  const left = notSearchedIn(page).map((one) => renderNotSearched(one, context));
  return [
    ...(isEmpty ? [`[nothing found${describeSearched(page, hints)}]`] : hints.map((hint) => `[${hint}]`)),
    ...(left.length > 0 ? [`[not searched: ${left.join(", ")}]`] : []),
    ...renderUnmatchedGlobs(unmatched_globs),
    ...(stopped_by === undefined ? [] : [`[stopped by ${stopped_by}${renderCursor(next_cursor)}]`]),
  ];
}

/** Returns the line that names globs without effect, if any. */
export const renderUnmatchedGlobs = (globs: readonly UnmatchedGlob[] = []): string[] =>
  globs.length === 0 ? [] : [`[matched nothing: ${globs.map(renderUnmatched).join(", ")}]`];

function renderUnmatched({ field, glob, instead, only_folders }: UnmatchedGlob): string {
  const named = `${field} ${JSON.stringify(glob)}`;
  if (instead !== undefined)
    return `${named} (a backslash escapes what follows it; ${JSON.stringify(instead)} has "/" between names)`;
  if (isOfWindows(glob)) return `${named} (globs are relative to the base folder, with "/" between names)`;
  if (only_folders !== true) return named;
  const inside = JSON.stringify(`${glob.replace(/\/$/, "")}/**`);
  return `${named} but folders (${inside} is what is in them)`;
}

const renderCursor = (cursor: string | undefined): string =>
  cursor === undefined ? "" : `; go on with the same call and "cursor": "${cursor}"`;

/** Returns the entries that were not searched. An answer of the profile `contract` has only their counts. */
function notSearchedIn({ not_searched, skipped }: Page): readonly NotSearched[] {
  if (not_searched !== undefined || skipped === undefined) return not_searched ?? [];
  const { excluded, ...others } = skipped;
  const counts = { default_excludes: excluded, ...others };
  return Object.entries(counts)
    .filter(([, count]) => count > 0)
    .map(([reason, count]) => ({ count, reason: reason as NotSearched["reason"] }));
}

function renderNotSearched(left: NotSearched, { maxFileBytes, sentence }: PageContext): string {
  const { field } = reasons[left.reason];
  const both = left.also_ignored ? ` and ${reasons.ignore_files.field}` : "";
  const limit = renderFileLimit({ ...left, sentBytes: maxFileBytes });
  const remedies = [...(field === undefined ? [] : [`${field}${both}`]), ...(limit ? [sentence(limit)] : [])];
  return `${renderLeftOut(left)}${remedies.map((remedy) => ` (${remedy})`).join("")}`;
}

/** Returns the names or the number of entries that were left out, and the reason. */
export function renderLeftOut({ count, names = [], reason }: NotSearched): string {
  const more = count - names.length;
  const which = [
    names.map(renderName).join(", "),
    ...(more === 0 ? [] : [names.length === 0 ? `${count}` : `${more} more`]),
  ].filter((part) => part !== "");
  return `${which.join(" and ")} ${reasons[reason].what}`;
}

/** The word for entries that were left out, and the field that includes them. */
const reasons: Readonly<Record<NotSearched["reason"], { readonly what: string; readonly field?: string }>> = {
  default_excludes: { what: "excluded", field: "use_default_excludes: false" },
  ignore_files: { what: "ignored", field: "respect_gitignore: false" },
  denied: { what: "denied" },
  binary: { what: "binary" },
  too_large: { what: "too large" },
  unreadable: { what: "unreadable" },
  long_lines: { what: "long lines", field: "a larger max_line_bytes" },
  root_gone: { what: "gone (the folder of a root is not there)" },
};

function describeSearched(page: Page, hints: readonly string[]): string {
  const { searched, stopped_by } = page;
  if (searched?.files === 0)
    return notSearchedIn(page).length > 0 || stopped_by !== undefined
      ? ": no file was searched"
      : ": no file matches the path, globs and file types";
  const where = searched && ` in ${searched.files} ${searched.files === 1 ? "file" : "files"}`;
  return [where ?? "", ...(hints.length > 0 ? [hints.join(", ")] : [])].join("; ");
}
