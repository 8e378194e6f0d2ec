/** For the tests of this room: a searcher over a real folder, and a request to vary. */

import { deadlineIn } from "../base/scheduling/deadline.ts";
import { filesOver } from "../filesystem/files/files.ts";
import type { BackendName } from "../filesystem/jail/folder.ts";
import { openJail } from "../filesystem/jail/jail.ts";
import { SharedTree } from "../filesystem/watch/shared-tree.ts";
import { compileGlobSet } from "../text/globs/glob-set.ts";
import { createRegexEngine } from "../text/regex/rust-regex.ts";
import { IgnoreFiles } from "./ignore/ignore-files.ts";
import type { IndexOptions } from "./index/search-index.ts";
import type { LineOptions } from "./matchers/lines.ts";
import type { Query } from "./matchers/query-compiler.ts";
import type { SearchAnswer, SearchRequest } from "./request.ts";
import { createSearcher } from "./search.ts";
import type { SearchState } from "./state.ts";

/** The fields of a request that a test may set. */
export interface RequestFields
  extends Partial<Query & LineOptions & Omit<SearchRequest, "query" | "lines" | "ignoreFiles">> {
  readonly respectsIgnoreFiles?: boolean;
}

/** Returns a request for everything, with these fields changed. */
export function requestOf({
  pattern = "",
  regex = false,
  ignoreCase = false,
  multiline = false,
  word = false,
  others = [],
  ...fields
}: RequestFields): SearchRequest {
  const {
    maxLineBytes = 4096,
    mode = "content",
    linesBefore = 0,
    linesAfter = 0,
    disjointContext = false,
    every = false,
    findsBinaries = false,
    excerptBytes,
    invert = false,
    withoutMatch = false,
    countsMatches = false,
    decodes = false,
    encoding,
    encodings,
    ...rest
  } = fields;
  const { respectsIgnoreFiles: _, ...remaining } = rest;
  return {
    query: { pattern, regex, ignoreCase, multiline, word, others, withoutReturns: decodes && multiline },
    lines: {
      ...{ maxLineBytes, mode, linesBefore, linesAfter, every, findsBinaries, excerptBytes, disjointContext },
      ...{ invert, withoutMatch, countsMatches, decodes },
      ...(encoding && { encoding }),
      ...(encodings && { encodings }),
    },
    path: ".",
    include: undefined,
    exclude: undefined,
    maxMatches: 1000,
    maxFileBytes: 1024 * 1024,
    content: true,
    paths: true,
    maxAnswerBytes: 16 * 1024 * 1024,
    ...remaining,
  };
}

/**
 * Returns the shared state of searches with `run` in place of threads, so that nothing is searched in this
 * thread.
 */
export const stateRunning = (
  run: (job: never) => unknown,
  fields: Partial<SearchState> = {},
): SearchState => ({
  pool: { run, isReady: true } as unknown as NonNullable<SearchState["pool"]>,
  index: undefined,
  batchesAtOnce: 1,
  held: { folders: 0 },
  active: 1,
  isClosed: false,
  // No thread runs the jobs.
  engineModule: () => undefined as never,
  engines: undefined,
  isOverHere: () => false,
  createEngines: () => {
    throw new Error("a caller's pattern was to be matched in the thread of everyone");
  },
  ...fields,
});

/** The options of a searcher under test. */
export interface SearchFixture {
  readonly backend: BackendName;
  readonly threads: boolean | number;
  readonly deny?: readonly string[];
  readonly index?: IndexOptions;
}

/** Runs the request, with a deadline in `milliseconds`. */
export type RunSearch = (fields: RequestFields, milliseconds?: number) => Promise<SearchAnswer>;

/** Opens a searcher over the folder `base`. */
export function openSearcher(base: string, { backend, threads, deny = [], index }: SearchFixture) {
  const jail = openJail({ basePath: base, deny: compileGlobSet(deny), backend });
  const files = filesOver(jail, () => 0);
  const ignoreFiles = new IgnoreFiles(jail);
  const regex = createRegexEngine({ threads: threads !== false });
  const tree = index?.tree ?? new SharedTree({ openBase: () => jail.admitFolder(".") });
  const searcher = createSearcher({
    jail,
    files,
    regex,
    threads,
    ...(index && { index: { ...index, tree } }),
  });
  const search: RunSearch = async (fields, milliseconds = 60_000) => {
    const deadline = deadlineIn(milliseconds);
    const ignoring = fields.respectsIgnoreFiles ? { ignoreFiles } : {};
    const { answer, bytes } = await searcher.search({ ...requestOf(fields), ...ignoring }, { deadline });
    deadline.end();
    if (bytes !== Buffer.byteLength(JSON.stringify(answer)))
      throw new Error(`an answer was counted as ${bytes} bytes`);
    return answer;
  };
  const close = async (): Promise<void> => {
    await searcher.close();
    await regex.close();
    tree.close();
    jail.close();
  };
  /** Resolves when the whole tree is watched. */
  const watched = async (): Promise<void> => {
    const subscription = tree.subscribe({});
    if (typeof subscription === "string") throw new Error(`no tree: ${subscription}`);
    while (!(await subscription.tree.build()).isComplete);
    subscription.end();
  };
  const warmUp = () => searcher.warmUp(requestOf({}));
  return { search, warmUp, close, watched, index: searcher.index };
}
