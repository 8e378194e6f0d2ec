/** Searches by an index and a watched tree: they ask the disk only for files that may match, or may have changed (decision 35). */
import type { CandidateSet } from "../../index/content-index.ts";
import type { NeededNgrams } from "../../index/needed-ngrams.ts";
import { deadlineIn, unlessOver } from "../../scheduling/deadline.ts";
import { runInSlices } from "../../scheduling/time-slice.ts";
import type { SharedTree, TreeSubscription } from "../../watch/shared-tree.ts";
import type { WatchedFolder } from "../../watch/tree.ts";
import type { RunningSearch } from "../request.ts";
import { isInode, TreeChanged } from "./listed-folder.ts";
import { type PathBytes, PathNgrams, pathBytesOf } from "./path-ngrams.ts";
import { RecordJudge } from "./record-judge.ts";
import { type ListRange, Replay } from "./replay.ts";
import { listFiles, type WalkList } from "./walk-list.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Lists that are kept: searches of one caller mostly have the same folder and globs. */
const mostLists = 4;
/** How often a list is made again because the tree has changed meanwhile. */
const mostTries = 3;
/** Files that a search scrubs, which takes about a millisecond. */
const defaultScrubbed = 128;

/** A list of files, and what of the tree it rests on. */
interface KeptList {
  readonly list: WalkList;
  readonly version: number;
  readonly rulesVersion: number;
  paths?: PathBytes;
  /** Where in the list the next search scrubs. */
  scrubAt: number;
}

/** What a search looks for, by the index. */
interface Judged {
  readonly needed: NeededNgrams;
  readonly candidates: CandidateSet;
  readonly after: string | undefined;
}

export class WatchedIndex {
  readonly #shared: Pick<SharedTree, "subscribe">;
  readonly #watched = new WatchedFiles();
  /** By what they depend on besides the tree, the one used last is the last. */
  readonly #lists = new Map<string, KeptList>();
  #subscription: TreeSubscription | undefined;
  readonly #scrubbedFiles: number;
  #isOpened = false;

  /**
   * `scrubbedFiles`: of how many files of its list a search asks for the stamps although no event came for them, as there are changes
   * without one. The next search goes on from there.
   */
  constructor(shared: Pick<SharedTree, "subscribe">, scrubbedFiles = defaultScrubbed) {
    this.#shared = shared;
    this.#scrubbedFiles = scrubbedFiles;
  }

  /** Whether searches need not ask for the stamps of all files now. */
  get isReady(): boolean {
    return this.#subscription?.tree.state.isComplete === true;
  }

  /** Begins to watch, once: the first search does not wait for that. Where the user has too many inotify instances, the next call tries again. */
  open(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    try {
      const subscription = this.#shared.subscribe(this.#watched);
      if (typeof subscription !== "string") this.#subscription = subscription;
      else this.#isOpened = subscription !== "limit";
    } catch {
      // The base is gone: searches say so.
    }
  }

  close(): void {
    this.#isOpened = true;
    this.#subscription?.end();
    this.#subscription = undefined;
    this.#lists.clear();
  }

  /**
   * Brings the tree up to date, and makes a list of the files of the search. Undefined where not all of them are known, or
   * that would take more than `milliseconds`.
   */
  async prepare(options: RunningSearch, milliseconds?: number): Promise<KeptList | undefined> {
    if (!this.isReady || options.walk.only !== undefined) return undefined;
    if (milliseconds === undefined) return await this.#prepare(options);
    const deadline = deadlineIn(milliseconds, options.deadline.signal);
    try {
      return await this.#prepare({ ...options, deadline });
    } finally {
      deadline.end();
    }
  }

  async #prepare(options: RunningSearch): Promise<KeptList | undefined> {
    const state = await unlessOver(this.#subscription!.drain(), options.deadline);
    if (state?.isComplete !== true) return undefined;
    for (let tries = 0; tries < mostTries; tries++) {
      const kept = this.#kept(options) ?? (await this.#makeList(options));
      if (kept === undefined || this.#isValid(kept)) return kept;
    }
    return undefined;
  }

  /**
   * Chooses the files of a list that the search has to look at. Undefined where the tree has changed since the list was
   * prepared.
   */
  replay(kept: KeptList, options: RunningSearch, { needed, candidates, after }: Judged): Replay | undefined {
    if (!this.#isValid(kept)) return undefined;
    const judge = new RecordJudge(candidates, options.request);
    return new Replay({
      list: kept.list,
      jail: options.walk.jail,
      watched: this.#watched,
      judge,
      since: this.#watched.begin(judge.records),
      scrubbed: this.#nextScrubbed(kept),
      after,
      mayMatchPath: options.request.paths ? pathMatcher(kept, needed) : undefined,
    });
  }

  #nextScrubbed(kept: KeptList): ListRange {
    const from = kept.scrubAt < kept.list.files.length ? kept.scrubAt : 0;
    kept.scrubAt = from + this.#scrubbedFiles;
    return { from, to: kept.scrubAt };
  }

  #isValid({ version, rulesVersion }: KeptList): boolean {
    const isSame =
      version === this.#subscription?.tree.version && rulesVersion === this.#watched.rulesVersion;
    return isSame && this.isReady;
  }

  #kept(options: RunningSearch): KeptList | undefined {
    const key = keyOf(options);
    const kept = key === undefined ? undefined : this.#lists.get(key);
    if (kept === undefined || !this.#isValid(kept)) return undefined;
    this.#lists.delete(key!);
    this.#lists.set(key!, kept);
    return kept;
  }

  async #makeList(options: RunningSearch): Promise<KeptList | undefined> {
    const tree = this.#subscription?.tree;
    const start = options.folder.folder;
    const path = tree && foldersTo(tree.base, start.names);
    const inode = path?.at(-1)?.inode;
    if (tree === undefined || path === undefined || inode === undefined || !isInode(start, inode))
      return undefined;
    const [version, { rulesVersion }] = [tree.version, this.#watched];
    const steps = listFiles(path, start, { ...options.walk, watched: this.#watched });
    const requireSame = () => {
      if (tree.version !== version || options.deadline.left === 0) throw new TreeChanged();
    };
    try {
      const list = await runInSlices(steps, options.slice, requireSame);
      if (list === undefined) return undefined;
      const key = keyOf(options);
      // A list that was made again goes on where the one before it was; one that is not kept scrubs any part.
      const scrubAt = this.#scrubAt(key) ?? Math.floor(Math.random() * list.files.length);
      const kept = { list, version, rulesVersion, scrubAt };
      if (list.isLasting) this.#keep(key, kept);
      return kept;
    } catch (error) {
      if (error instanceof TreeChanged) return undefined;
      throw error;
    }
  }

  #scrubAt(key: string | undefined): number | undefined {
    return key === undefined ? undefined : this.#lists.get(key)?.scrubAt;
  }

  #keep(key: string | undefined, kept: KeptList): void {
    if (key === undefined) return;
    this.#lists.delete(key);
    this.#lists.set(key, kept);
    if (this.#lists.size > mostLists) this.#lists.delete(this.#lists.keys().next().value!);
  }
}

function pathMatcher(kept: KeptList, needed: NeededNgrams): (index: number) => boolean {
  kept.paths ??= pathBytesOf(kept.list);
  const { bytes, starts } = kept.paths;
  const ngrams = new PathNgrams(needed);
  return (index) => ngrams.mayMatch(bytes, starts[index]!, starts[index + 1]! - 1);
}

/** What a list depends on besides the tree; undefined where that cannot be compared. */
function keyOf({ walk, folder }: RunningSearch): string | undefined {
  const sets = [walk.include, walk.exclude, walk.fileNames, walk.otherFileNames].map((set) =>
    set === undefined ? null : "patterns" in set ? set.patterns : undefined,
  );
  if (sets.includes(undefined)) return undefined;
  const flags = [walk.ignoreFiles, walk.defaultExcludes].map((one) => one !== undefined);
  flags.push(walk.includesHidden !== false);
  return JSON.stringify([folder.folder.names, sets, flags, walk.globs?.patterns ?? null]);
}

/** The folders from the base to the one with these names; undefined where the tree has none. */
function foldersTo(base: WatchedFolder, names: readonly string[]): WatchedFolder[] | undefined {
  const path = [base];
  for (const name of names) {
    const { keys, entries } = path.at(-1)!;
    const entry = entries[keys.indexOf(`${Buffer.from(name).toString("latin1")}/`)];
    if (typeof entry !== "object") return undefined;
    path.push(entry);
  }
  return path;
}
