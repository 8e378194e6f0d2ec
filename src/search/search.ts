/** The searches of callers over the folder (coder §8). */
import { availableParallelism } from "node:os";
import type { Entry } from "../files/types.ts";
import { errnoOf, refusalOfErrno } from "../jail/errno.ts";
import type { Jail } from "../jail/folder.ts";
import { type RegexEngine, refusalOfPattern } from "../regex/engine.ts";
import { Pool } from "../threads/pool.ts";
import { canSpawn } from "../threads/spawn.ts";
import { createWalkSlice, type Walker } from "../walk-slice.ts";
import type { LineMatch, LineOptions } from "./lines.ts";
import type { Query } from "./query-compiler.ts";
import { SearchRun } from "./run.ts";
import { SharedFolder } from "./shared-folder.ts";
import type { SearchState } from "./state.ts";
import type { BatchJob, BatchReply, SearchThreadData } from "./thread.ts";
import { createThreadEngines } from "./thread-engines.ts";
import type { PathFilter } from "./walk.ts";

/** What to look for, where, and how much of it to answer. Neither the pattern nor both switches may be empty. */
export interface SearchRequest {
  readonly query: Query;
  readonly lines: LineOptions;
  /** The folder to walk. Results are relative to the base all the same. */
  readonly path: string;
  /** `path` may also be a file, which alone is searched then. */
  readonly mayBeFile?: boolean;
  /** Paths that are considered at all; undefined for every path. */
  readonly include: PathFilter | undefined;
  readonly exclude: PathFilter | undefined;
  /** Cap of each list. */
  readonly maxMatches: number;
  /** Larger files are skipped. */
  readonly maxFileBytes: number;
  readonly content: boolean;
  readonly paths: boolean;
  /** Most bytes of the answer as JSON; what does not fit is cut. */
  readonly maxAnswerBytes: number;
}

/** The first match in one line of a file. */
export interface ContentMatch extends LineMatch {
  readonly path: string;
}

export interface PathMatch {
  readonly path: string;
}

/** Both lists in the order of path bytes, then lines. */
export interface SearchAnswer {
  readonly content_matches: readonly ContentMatch[];
  readonly path_matches: readonly PathMatch[];
  /** Something was left out: for a cap, for the size of the answer, or because the deadline passed. */
  readonly truncated: boolean;
}

export interface Found {
  readonly answer: SearchAnswer;
  /** Of the answer as JSON. */
  readonly bytes: number;
}

export interface Searcher {
  /**
   * Throws refusals for a bad pattern and for a path that is no folder; past the deadline answers with what was found
   * so far. The same tree gives the same answer, whatever the number of threads.
   */
  search(request: SearchRequest, walker: Walker): Promise<Found>;
  /** Ends the threads. Searches still under way answer with what they have. */
  close(): Promise<void>;
}

export interface SearcherOptions {
  readonly jail: Jail;
  readonly regex: RegexEngine;
}

/** Where a walk starts. */
interface Start {
  readonly folder: SharedFolder;
  /** The one file in it that is meant. */
  readonly only: Entry | undefined;
}

function startOf(jail: Jail, { path, mayBeFile = false }: SearchRequest): Start {
  const place = mayBeFile ? jail.admit(path) : undefined;
  if (place === undefined || place.stats?.isDirectory()) {
    place?.[Symbol.dispose]();
    return { folder: new SharedFolder(jail.admitFolder(path)), only: undefined };
  }
  const { folder, name, stats } = place;
  const only: Entry = { name, raw: name, kind: stats?.isFile() ? "file" : "other" };
  return { folder: new SharedFolder(folder, () => place[Symbol.dispose]()), only };
}

/** Threads that search at once: the disk feeds no more, and each takes some 25 MB. */
const threads = Math.min(8, availableParallelism());
/** Batches that a thread is given at once: one to work on, and the next ones so that it need not wait. */
const batchesPerThread = 3;

/** A searcher that loads WebAssembly and starts threads only when a search deserves them. */
export function createSearcher({ jail, regex }: SearcherOptions): Searcher {
  const pool = new Pool<BatchJob, BatchReply>({
    program: "search",
    size: threads,
    depth: batchesPerThread,
    data: (): SearchThreadData => ({ engine: regex.module }),
  });
  const state: SearchState = {
    pool: canSpawn() ? pool : undefined,
    batchesAtOnce: threads * (batchesPerThread + 1),
    held: { folders: 0 },
    engines: undefined,
    createEngines: (watch) => createThreadEngines(() => regex.openMachine(watch)),
    isOverHere: () => false,
    active: 0,
    isClosed: false,
  };
  return {
    async search(request, walker) {
      const { folder, only } = startOf(jail, request);
      using slice = createWalkSlice(walker);
      const search = new SearchRun({
        request,
        deadline: walker.deadline,
        slice,
        state,
        folder,
        walk: { jail, ...request, only },
      });
      state.active++;
      try {
        return await search.run();
      } catch (error) {
        // What keeps it from folders and files altogether, such as a want of descriptors.
        if (errnoOf(error) !== undefined) throw refusalOfErrno(error, request.path);
        throw refusalOfPattern(error, request.query.pattern);
      } finally {
        state.active--;
      }
    },
    close() {
      state.isClosed = true;
      return pool.close();
    },
  };
}
