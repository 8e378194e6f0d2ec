/** For the tests of this room: a searcher over a real folder, and a request to vary. */
import { deadlineIn } from "../deadline.ts";
import { compileGlobSet } from "../globs/glob-set.ts";
import type { BackendName } from "../jail/folder.ts";
import { openJail } from "../jail/jail.ts";
import { createRegexEngine } from "../regex/engine.ts";
import { createSearcher, type SearchAnswer, type SearchRequest } from "./search.ts";

export const plain: SearchRequest = {
  query: "",
  path: ".",
  regex: false,
  ignoreCase: false,
  include: undefined,
  exclude: undefined,
  maxMatches: 1000,
  maxLineBytes: 4096,
  maxFileBytes: 1024 * 1024,
  content: true,
  paths: true,
  maxAnswerBytes: 16 * 1024 * 1024,
};

/** How a searcher is opened. */
export interface SearchFixture {
  readonly backend: BackendName;
  readonly threads: boolean;
  readonly deny?: readonly string[];
}

/** Searches for `plain` with what is asked changed, within so many milliseconds. */
export type Ask = (asked: Partial<SearchRequest>, milliseconds?: number) => Promise<SearchAnswer>;

/** Opens a searcher over the folder `base`. */
export function openAsking(base: string, { backend, threads, deny = [] }: SearchFixture) {
  const jail = openJail({ basePath: base, deny: compileGlobSet(deny), backend });
  const regex = createRegexEngine();
  const set = process.env["CODER_THREADS"];
  if (!threads) process.env["CODER_THREADS"] = "0";
  const searcher = createSearcher({ jail, regex });
  if (set === undefined) delete process.env["CODER_THREADS"];
  else process.env["CODER_THREADS"] = set;
  const ask: Ask = async (asked, milliseconds = 60_000) => {
    const deadline = deadlineIn(milliseconds);
    const { answer, bytes } = await searcher.search({ ...plain, ...asked }, { deadline });
    deadline.end();
    if (bytes !== Buffer.byteLength(JSON.stringify(answer)))
      throw new Error(`an answer was counted as ${bytes} bytes`);
    return answer;
  };
  const close = async (): Promise<void> => {
    await searcher.close();
    await regex.close();
    jail.close();
  };
  return { ask, close };
}
