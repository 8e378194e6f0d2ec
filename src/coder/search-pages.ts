/** A search in pages: the fields of the request, and of the answer (coder §16). */
import { type Static, Type } from "@sinclair/typebox";
import { UInt32, UInt64 } from "../schema/fragments.ts";
import type { PageRequest } from "../search/request.ts";
import type { CoderContext } from "./define.ts";
import { refuseCoder } from "./errors.ts";

const since = "0.4.0";

export const PageRequestFields = {
  cursor: Type.Optional(
    Type.String({ since, description: "`next_cursor` of the page before; other fields as then." }),
  ),
  deadline_ms: Type.Optional(UInt32({ since, description: "Stops then, with what it has." })),
  max_bytes: Type.Optional(UInt32({ since, description: "Most bytes of the answer." })),
};

export const PageAnswerFields = {
  next_cursor: Type.Optional(
    Type.String({ since, description: "Where the next page starts, if there is one." }),
  ),
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
};

const PageFieldsRequest = Type.Object(PageRequestFields);
const PageAnswer = Type.Object(PageAnswerFields);

/** The page that is requested. Throws a refusal. */
export function pageOf(
  request: Static<typeof PageFieldsRequest>,
  { profile, searcher: { cursors } }: Pick<CoderContext, "profile" | "searcher">,
): PageRequest {
  const { cursor, deadline_ms: milliseconds } = request;
  const maxBytes = request.max_bytes ?? profile["search.max_bytes"];
  const query = describeQuery(request);
  const after = cursor === undefined ? undefined : cursors.open(query, cursor);
  if (cursor !== undefined && after === undefined) throw refuseCoder.badCursor(cursor);
  return {
    maxBytes: maxBytes ?? Number.POSITIVE_INFINITY,
    milliseconds,
    after,
    seal: (place) => cursors.seal(query, place),
  };
}

/** Fields that may differ from page to page. */
const fieldsOfPages: ReadonlySet<string> = new Set([...Object.keys(PageRequestFields), "max_matches"]);

/** The request without those, in one form. */
const describeQuery = (request: object): string =>
  JSON.stringify(
    Object.entries(request)
      .filter(([field]) => !fieldsOfPages.has(field))
      .sort(([one], [other]) => (one < other ? -1 : 1)),
  );

type Page = Static<typeof PageAnswer>;

/** What an answer leaves out, and how to go on, as lines for models; none for a whole answer in which something was found. */
export function renderPage({ next_cursor, searched, skipped, stopped_by }: Page, isEmpty: boolean): string[] {
  const left = Object.entries(skipped ?? {})
    .filter(([, count]) => count > 0)
    .map(
      ([reason, count]) =>
        `${count} ${reason.replaceAll("_", " ")}${isEmpty ? (remedies[reason] ?? "") : ""}`,
    );
  const parts = [
    ...(left.length > 0 ? [`not searched: ${left.join(", ")}`] : []),
    ...(stopped_by === undefined ? [] : [`stopped by ${stopped_by}`]),
    ...(next_cursor === undefined ? [] : [`go on with the same call and "cursor": "${next_cursor}"`]),
  ];
  return [
    ...(isEmpty ? [`[nothing found${describeSearched(searched)}]`] : []),
    ...(parts.length > 0 ? [`[${parts.join("; ")}]`] : []),
  ];
}

/** How to search what was skipped. */
const remedies: Readonly<Record<string, string>> = {
  long_lines: " (searched with a larger max_line_bytes)",
  excluded: " (searched with use_default_excludes false and respect_gitignore false)",
};

function describeSearched(searched: Page["searched"]): string {
  if (searched === undefined) return "";
  if (searched.files === 0) return ": path, globs and file_types leave no file to search";
  return ` in ${searched.files} ${searched.files === 1 ? "file" : "files"}`;
}
