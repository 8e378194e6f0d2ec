import { Type } from "@sinclair/typebox";
import { refuse } from "../../base/errors.ts";
import { createTimeSlice, runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import { Named, UInt64 } from "../../base/schema/fragments.ts";
import type { Jail } from "../../filesystem/jail/folder.ts";
import { requestedEncoding } from "../../text/encodings/requested-encoding.ts";
import { commaBytes, JsonBudget } from "../../text/sizes/json-budget.ts";
import { jsonBytes } from "../../text/sizes/json-size.ts";
import { defineFsFunction, foundPaths, shortDeadline } from "./define.ts";
import { refuseFs } from "./fs-errors.ts";
import { filtersFor } from "./globs.ts";
import { HostEncoding, withoutEncoding } from "./host-encoding.ts";
import { requirePattern } from "./pattern.ts";
import { largestWhole } from "./services.ts";

const FsMatch = Named("FsMatch", { content: Type.String(), line: UInt64(), path: Type.String() });

const Globs = () => Type.Array(Type.String(), { default: [] });

/** The number of bytes of a line to match: all of them. */
const wholeLine = 2 ** 31;

/** `shell::fs::grep`: lines that match a pattern (shell §9.7). */
export const grep = defineFsFunction({
  op: "grep",
  description: "Recursive regex search on host or sandbox",
  effect: "reads",
  isLong: true,
  paths: [{ at: "/path", access: "list" }],
  answerBytes: 1024 * 1024,
  fields: {
    path: Type.String(),
    pattern: Type.String(),
    recursive: Type.Boolean({ default: true }),
    ignore_case: Type.Boolean({ default: false }),
    include_glob: Globs(),
    exclude_glob: Globs(),
    max_matches: UInt64({ default: 10_000, description: "0 is no limit." }),
    max_line_bytes: UInt64({
      default: 4096,
      description: "Bytes of each line in the answer; 0 is no limit.",
    }),
    encoding: HostEncoding(),
  },
  response: Type.Object(
    { matches: Type.Array(FsMatch), truncated: Type.Boolean() },
    { title: "GrepResponse" },
  ),
  examples: [
    {
      title: "Search the sources",
      request: { path: "/srv/data", pattern: "\\bTODO\\b", include_glob: ["*.ts"] },
    },
  ],
  forwarded: withoutEncoding,
  async handle(request, context) {
    const { jail, searcher } = context.fs;
    const encoding = requestedEncoding(request.encoding);
    const { path, pattern, ignore_case: ignoreCase, max_matches, max_line_bytes } = request;
    const start = startOf(jail, path);
    using deadline = shortDeadline(context);
    await requirePattern(context.regex, { pattern, ignoreCase }, deadline);
    if (start.isFolder && !request.recursive) throw refuseFs.notRecursive(path);
    if (start.size > largestWhole) {
      const limit = { key: "what can be searched", bytes: largestWhole };
      throw refuse.tooLarge(path, limit, "search a smaller file");
    }
    const most = max_matches === 0 ? Number.MAX_SAFE_INTEGER - 1 : max_matches;
    const globs = { include: request.include_glob, exclude: request.exclude_glob };
    const { answer } = await searcher.search(
      {
        query: { pattern, regex: true, ignoreCase },
        lines: {
          decodes: encoding !== undefined || context.profile["fs.grep.decodes"],
          ...(encoding !== undefined && { encoding }),
          maxLineBytes: wholeLine,
          textBytes: max_line_bytes === 0 ? wholeLine : max_line_bytes,
        },
        path,
        mayBeFile: true,
        ...filtersFor(globs, start.prefix),
        maxMatches: most,
        maxFileBytes: largestWhole,
        content: true,
        paths: false,
        maxAnswerBytes: context.maxAnswerBytes,
      },
      { deadline, caller: context.caller, onFiles: context.onFiles },
      jail,
    );
    const { content_matches, truncated } = answer;
    const found = namedMatches(content_matches, foundPaths(jail, path), context.maxAnswerBytes);
    const matches = await runInSlices(found, createTimeSlice());
    // Even without further matches, as published.
    const isCut = matches.length < content_matches.length;
    return { matches, truncated: truncated || isCut || matches.length >= most };
  },
});

/** The file or folder where a walk starts. */
export interface Start {
  readonly isFolder: boolean;
  /** The size of a file in bytes; 0 for anything else. */
  readonly size: number;
  /** The prefix of the paths that globs match, in paths from the base. */
  readonly prefix: string;
}

/** Finds the start of the walk, and closes the handle. */
export function startOf(jail: Jail, requested: string): Start {
  using place = jail.admit(requested);
  const { stats, path, name } = place;
  const isFolder = stats!.isDirectory();
  const prefix = isFolder ? (path === "" ? "" : `${path}/`) : path.slice(0, path.length - name.length);
  return { isFolder, size: stats!.isFile() ? stats!.size : 0, prefix };
}

interface NamedMatch {
  readonly path: string;
  readonly line: number;
  readonly content: string;
}

/** Matches that are converted in one step. */
const atOnce = 500;

/**
 * Returns the matches with the paths of the answer, as many as fit into one message: host paths are longer
 * than the paths that the search counted.
 */
function* namedMatches(
  found: readonly { readonly path: string; readonly line: number; readonly text: string }[],
  nameOf: (path: string) => string,
  maxAnswerBytes: number,
): Steps<NamedMatch[]> {
  const budget = new JsonBudget(maxAnswerBytes, jsonBytes({ matches: [], truncated: false }));
  const matches: NamedMatch[] = [];
  let [file, name] = ["", ""];
  for (const [index, { path, line, text }] of found.entries()) {
    if (index % atOnce === 0) yield;
    if (path !== file) [file, name] = [path, nameOf(path)];
    const match = { path: name, line, content: text };
    if (!budget.admit(jsonBytes(match) + commaBytes(index))) break;
    matches.push(match);
  }
  return matches;
}
