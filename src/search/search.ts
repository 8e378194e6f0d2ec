/** The searches of callers over the folder (coder §8). */
import { availableParallelism } from "node:os";
import { refuse } from "../base/errors.ts";
import { unlessOver } from "../base/scheduling/deadline.ts";
import { createWalkSlice, type Walker } from "../base/scheduling/walk-slice.ts";
import { Pool } from "../base/threads/pool.ts";
import { canSpawn } from "../base/threads/spawn.ts";
import type { Entry } from "../filesystem/files/types.ts";
import { errnoOf, refusalOfErrno } from "../filesystem/jail/errno.ts";
import type { Jail } from "../filesystem/jail/folder.ts";
import { type RegexEngine, refusalOfPattern } from "../text/regex/rust-regex.ts";
import { Cursors } from "./answer/cursors.ts";
import type { SearchJob, ThreadReply } from "./batches/job.ts";
import { TreeChanged } from "./index/listed-folder.ts";
import { type IndexOptions, SearchIndex } from "./index/search-index.ts";
import { createThreadEngines } from "./matchers/thread-engines.ts";
import { Preparation } from "./preparation.ts";
import type { Found, SearchRequest } from "./request.ts";
import { SearchRun } from "./search-run.ts";
import type { PartialSearch, SearchOptions, SearchState } from "./state.ts";
import { SharedFolder } from "./walk/shared-folder.ts";
import type { WalkOptions } from "./walk/walk.ts";
import type { UsualFields } from "./warm-up.ts";

export interface Searcher {
  /**
   * Runs a search. Throws refusals for a bad pattern and for a path that is not a folder; past the deadline
   * it returns its findings so far. A jail for a part of the tree, if given, admits the path. An unchanged
   * tree gives an unchanged answer, whatever the number of threads.
   */
  search(request: SearchRequest, walker: Walker, scoped?: Jail): Promise<Found>;
  /** The cursors of its pages. */
  readonly cursors: Cursors;
  /** The index, or `undefined` if each search reads all files. */
  readonly index: SearchIndex | undefined;
  /** Prepares the first search while the client is idle, until one begins. Never rejects. */
  warmUp(fields: UsualFields): Promise<void>;
  /** Ends the threads. Searches still under way return their findings so far. */
  close(): Promise<void>;
}

export interface SearcherOptions extends Pick<WalkOptions, "files"> {
  readonly jail: Jail;
  readonly regex: RegexEngine;
  /**
   * Whether to search in threads, or their exact number. False searches everything in this thread. Default:
   * threads if the platform has them.
   */
  readonly threads?: boolean | number;
  /** The options of the index. Default: no index. */
  readonly index?: IndexOptions;
}

/** The start of a walk. */
interface Start {
  readonly folder: SharedFolder;
  /** The only entry to search, if the path names a file. */
  readonly only: Entry | undefined;
}

/** Finds the start of a search. Throws a refusal, also for a given entry that is neither folder nor file. */
function startOf(jail: Jail, { path, mayBeFile = false, searchesGivenFile = false }: SearchRequest): Start {
  const place = mayBeFile && path !== "." ? jail.admit(path) : undefined;
  if (place === undefined || place.stats?.isDirectory()) {
    place?.[Symbol.dispose]();
    return { folder: new SharedFolder(jail.admitFolder(path)), only: undefined };
  }
  const { folder, name, stats } = place;
  if (searchesGivenFile && stats?.isFile() === false) {
    place[Symbol.dispose]();
    throw refuse.notAFile(path);
  }
  const only: Entry = { name, raw: name, kind: stats?.isFile() ? "file" : "other" };
  return { folder: new SharedFolder(folder, () => place[Symbol.dispose]()), only };
}

/** The filter for a file that a caller names. */
const noFilter = {
  include: undefined,
  exclude: undefined,
  globs: undefined,
  fileNames: undefined,
  otherFileNames: undefined,
  defaultExcludes: undefined,
  ignoreFiles: undefined,
  includesHidden: true,
};

/** Maximum threads that search at once. More would wait for the disk, and each takes about 25 MB. */
const maxThreads = Math.min(8, availableParallelism());
/** The jobs posted to a thread at once: one to work on, and the next ones so that it need not wait. */
const batchesPerThread = 3;

/**
 * Runs a search, and repeats it without the watched tree if the disk differed from the tree. Releases the
 * folder.
 */
async function runSearch(options: SearchOptions): Promise<Found> {
  const { folder, request } = options;
  const started = performance.now();
  folder.hold();
  try {
    return await new SearchRun(options).run();
  } catch (error) {
    if (!(error instanceof TreeChanged)) throw error;
    const left = withLess(request, performance.now() - started);
    return await new SearchRun({ ...options, request: left, folder: folder.hold(), mayReplay: false }).run();
  } finally {
    folder.release();
  }
}

/** Returns the request with that much less time for its page. */
function withLess(request: SearchRequest, milliseconds: number): SearchRequest {
  const { page } = request;
  if (page?.milliseconds === undefined) return request;
  return { ...request, page: { ...page, milliseconds: Math.max(0, page.milliseconds - milliseconds) } };
}

type Shared = Pick<SearcherOptions, "jail" | "files"> & { readonly state: SearchState };

/** Runs a search, and releases the folder of its start. */
async function searchFrom({ folder, only }: Start, options: PartialSearch, shared: Shared): Promise<Found> {
  const { request, walker, leftOut } = options;
  const { state, jail, files } = shared;
  using slice = createWalkSlice(walker);
  const filter = only !== undefined && request.searchesGivenFile ? noFilter : {};
  const walk = { jail, files, ...request, ...filter, only };
  const { deadline, onFiles } = walker;
  state.active++;
  try {
    const found = await runSearch({ request, deadline, onFiles, slice, state, folder, walk, leftOut });
    return { ...found, isOfOneFile: only !== undefined };
  } finally {
    state.active--;
  }
}

/** Compares the stamps of all files of a search with the index, and releases the folder of its start. */
async function compareFrom({ folder }: Start, { request, walker }: PartialSearch, shared: Shared) {
  const { state, jail, files } = shared;
  using slice = createWalkSlice(walker);
  const { deadline } = walker;
  try {
    await state.index?.confirm({ request, deadline, slice, folder, walk: { jail, files, ...request } });
  } finally {
    folder.release();
  }
}

/** Creates a searcher, which loads WebAssembly and starts threads only when a search needs them. */
export function createSearcher({ jail, files, regex, threads = true, index }: SearcherOptions): Searcher {
  const size = typeof threads === "number" ? threads : maxThreads;
  const pool = new Pool<SearchJob, ThreadReply>({ program: "search", size, depth: batchesPerThread });
  const hasThreads = threads !== false && canSpawn();
  const searchIndex =
    hasThreads && index !== undefined && index.mode !== "off"
      ? SearchIndex.open(index, jail, pool)
      : undefined;
  const state: SearchState = {
    pool: hasThreads ? pool : undefined,
    index: searchIndex,
    batchesAtOnce: size * (batchesPerThread + 1),
    held: { folders: 0 },
    engineModule: () => regex.module,
    engines: undefined,
    createEngines: (interrupt) => createThreadEngines(() => regex.openRuntime(interrupt)),
    isOverHere: () => false,
    active: 0,
    isClosed: false,
  };
  const shared = { jail, files, state };
  const preparation = new Preparation({
    search: (options) => searchFrom(startOf(jail, options.request), options, shared),
    compare: (options) => compareFrom(startOf(jail, options.request), options, shared),
    pool: state.pool,
    index: searchIndex,
  });
  return {
    cursors: new Cursors(),
    index: searchIndex,
    async search(request, walker, scoped = jail) {
      const start = startOf(scoped, request);
      const prepared = { request, isOfAll: scoped === jail && request.path === "." };
      try {
        await unlessOver(preparation.begin(prepared), walker.deadline);
        return await searchFrom(start, { request, walker }, shared);
      } catch (error) {
        // An error that every file and folder would meet, such as EMFILE.
        if (errnoOf(error) !== undefined) throw refusalOfErrno(error, request.path);
        const { pattern, others = [] } = request.query;
        throw refusalOfPattern(error, [pattern, ...others].join("|"));
      } finally {
        preparation.end(prepared);
      }
    },
    warmUp: (fields) => preparation.warmUp(fields),
    close() {
      state.isClosed = true;
      preparation.close();
      return pool.close();
    },
  };
}
