/**
 * Searches by an index and a watched tree, which read from disk only files that may match or may have changed
 * (decision 35).
 */

import { unlessOver } from "../../base/scheduling/deadline.ts";
import { runInSlices, type Steps } from "../../base/scheduling/time-slice.ts";
import type { SharedTree, TreeSubscription } from "../../filesystem/watch/shared-tree.ts";
import type { RunningSearch } from "../request.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import type { NeededNgrams } from "../signatures/needed-ngrams.ts";
import type { QueryResults } from "./kept-results.ts";
import { type Compare, ListComparison } from "./list-comparison.ts";
import { foldersTo, isInode, TreeChanged } from "./listed-folder.ts";
import { type PathBytes, PathNgrams, pathBytesOf } from "./path-ngrams.ts";
import { RecordJudge } from "./record-judge.ts";
import { type ListRange, Replay } from "./replay.ts";
import type { WalkList } from "./walk-list.ts";
import { type EarlierList, WalkLister } from "./walk-lister.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Maximum lists that are kept. Searches of one caller mostly share folder and globs. */
const maxLists = 4;
/** Maximum attempts to make a list, and to select files of it, while the tree keeps changing. */
const maxTries = 3;
/** Minimum number of unseen files whose stamps are compared before the search. */
const minConfirmed = 512;
/** The number of files that a search scrubs, which takes about a millisecond. */
const defaultScrubbed = 128;

/** A list of files, with the state of the tree that it depends on. */
export interface KeptList {
  readonly list: WalkLister;
  version: number;
  readonly rulesVersion: number;
  paths?: PathBytes;
  /** The index in the list where the next search scrubs. */
  scrubAt: number;
}

/** The needs of a search, judged by the index. */
export interface Judged {
  readonly needed: NeededNgrams;
  readonly candidates: CandidateSet;
  readonly results: QueryResults;
  readonly after: string | undefined;
  /** The way to compare stamps. Absent if the search may end before it has gone through all files. */
  readonly compare: Compare | undefined;
}

export interface WatchedIndexOptions {
  /**
   * The number of files of its list whose stamps each search reads even without an event, because some
   * changes raise none. The next search continues from there.
   */
  readonly scrubbedFiles?: number | undefined;
  /** Called when every file may have changed, so that the next search has to compare all stamps. */
  readonly onAllChanged?: () => void;
}

export class WatchedIndex {
  readonly #shared: Pick<SharedTree, "subscribe">;
  readonly #watched: WatchedFiles;
  /** The lists by all that they depend on besides the tree, least recently used first. */
  readonly #lists = new Map<string, KeptList>();
  #subscription: TreeSubscription | undefined;
  readonly #scrubbedFiles: number;
  #isOpened = false;

  /** Creates an index over a shared tree. */
  constructor(
    shared: Pick<SharedTree, "subscribe">,
    { scrubbedFiles = defaultScrubbed, onAllChanged }: WatchedIndexOptions = {},
  ) {
    this.#shared = shared;
    this.#scrubbedFiles = scrubbedFiles;
    this.#watched = new WatchedFiles(onAllChanged);
  }

  /** Returns whether searches may currently rely on events in place of stamps. */
  get isReady(): boolean {
    return this.#subscription?.tree.state.isComplete === true;
  }

  /**
   * Starts watching, once, without delaying the first search. If the user has too many inotify instances, the
   * next call tries again.
   */
  open(): void {
    if (this.#isOpened) return;
    this.#isOpened = true;
    try {
      const subscription = this.#shared.subscribe(this.#watched);
      if (typeof subscription !== "string") this.#subscription = subscription;
      else this.#isOpened = subscription !== "limit";
    } catch {
      // The base is gone, which searches report.
    }
  }

  /** Starts watching, and resolves once all folders are watched, or if they cannot be. */
  async opened(): Promise<void> {
    this.open();
    await this.#subscription?.built();
  }

  close(): void {
    this.#isOpened = true;
    this.#subscription?.end();
    this.#subscription = undefined;
    this.#lists.clear();
  }

  /**
   * Updates the tree, and lists the files of the search. Returns `undefined` if not all of them are known.
   */
  async prepare(options: RunningSearch): Promise<KeptList | undefined> {
    if (!(await this.#isUpToDate(options))) return undefined;
    for (let tries = 0; tries < maxTries; tries++) {
      const kept = this.#kept(options) ?? (await this.#makeList(options));
      if (typeof kept !== "object") return undefined;
      if (this.#isValid(kept)) return kept;
    }
    return undefined;
  }

  /**
   * Selects the files that a search has to read. All others were as known at some moment since the call.
   * Returns `undefined` if the tree does not know all files of the search, and at the deadline.
   */
  async select(options: RunningSearch, judged: Judged): Promise<Replay | undefined> {
    for (let tries = 0; tries < maxTries; tries++) {
      const kept = await this.prepare(options);
      if (kept === undefined) return undefined;
      if (judged.compare !== undefined) await this.#confirmListed(kept.list, options, judged.compare);
      const replay = await this.#select(kept, options, judged);
      if (replay !== undefined) return replay;
    }
    return undefined;
  }

  /** Selects files of a list, unless the list becomes invalid before the end. */
  async #select(kept: KeptList, options: RunningSearch, judged: Judged): Promise<Replay | undefined> {
    const requireSame = () => {
      if (options.deadline.left === 0 || !this.#isValid(kept)) throw new TreeChanged();
    };
    try {
      if (options.request.paths)
        kept.paths ??= await runInSlices(pathBytesOf(kept.list), options.slice, requireSame);
      requireSame();
      return await runInSlices(this.#selecting(kept, options, judged), options.slice, requireSame);
    } catch (error) {
      if (error instanceof TreeChanged) return undefined;
      throw error;
    }
  }

  #selecting(
    kept: KeptList,
    options: RunningSearch,
    { needed, candidates, results, after }: Judged,
  ): Steps<Replay> {
    const judge = new RecordJudge(candidates, options.request);
    return Replay.select({
      list: kept.list,
      jail: options.walk.jail,
      watched: this.#watched,
      judge,
      results,
      since: this.#watched.begin(judge.records),
      scrubbed: this.#nextScrubbed(kept),
      after,
      mayMatchPath: options.request.paths ? pathMatcher(kept.paths!, needed) : undefined,
    });
  }

  /**
   * Compares the stamps of all files of a search with their records, if no search has seen them, so that
   * searches need not. Ends early at the deadline, and if the tree changes. Returns whether it has compared
   * all of them, or cannot because the tree does not know them.
   */
  async confirm(options: RunningSearch, compare: Compare): Promise<boolean> {
    if (!(await this.#isUpToDate(options))) return options.deadline.left > 0;
    const comparison = new ListComparison(this.#watched, options, compare);
    try {
      // Threads compare the first files while the others are being listed.
      const kept = this.#kept(options) ?? (await this.#makeList(options, (list) => comparison.follow(list)));
      if (typeof kept === "object") await comparison.finish(kept.list);
      return kept !== "changed" && options.deadline.left > 0;
    } finally {
      await comparison.ended();
    }
  }

  /** Does the same with the files of a list, if many were not seen. */
  async #confirmListed(list: WalkList, options: RunningSearch, compare: Compare): Promise<void> {
    let unseen = 0;
    for (const file of list.files) if (file >= 0 && this.#watched.recordOf(file) < 0) unseen++;
    if (unseen < minConfirmed) return;
    const comparison = new ListComparison(this.#watched, options, compare);
    try {
      await comparison.finish(list);
    } finally {
      await comparison.ended();
    }
  }

  /** Updates the tree. Returns whether all files of the search are known. */
  async #isUpToDate({ walk, deadline }: RunningSearch): Promise<boolean> {
    if (!this.isReady || walk.only !== undefined) return false;
    const state = await unlessOver(this.#subscription!.drain(), deadline);
    return state?.isComplete === true;
  }

  #nextScrubbed(kept: KeptList): ListRange {
    const from = kept.scrubAt < kept.list.files.length ? kept.scrubAt : 0;
    kept.scrubAt = from + this.#scrubbedFiles;
    return { from, to: kept.scrubAt };
  }

  /** Returns whether the list is that of the current tree. */
  #isValid(kept: KeptList): boolean {
    const tree = this.#subscription?.tree;
    if (tree === undefined || !this.isReady || kept.rulesVersion !== this.#watched.rulesVersion) return false;
    if (kept.version === tree.version) return true;
    if (!kept.list.isCurrent(kept.version)) return false;
    kept.version = tree.version;
    return true;
  }

  #kept(options: RunningSearch): KeptList | undefined {
    const key = keyOf(options);
    const kept = key === undefined ? undefined : this.#lists.get(key);
    if (kept === undefined || !this.#isValid(kept)) return undefined;
    this.#lists.delete(key!);
    this.#lists.set(key!, kept);
    return kept;
  }

  /**
   * Makes a list, and calls `onGrown` from time to time with the entries so far. Returns "unknown" if the
   * tree does not know all files, and "changed" if it has changed before the end, or at the deadline.
   */
  async #makeList(
    options: RunningSearch,
    onGrown?: (list: WalkList) => void,
  ): Promise<KeptList | "unknown" | "changed"> {
    const tree = this.#subscription?.tree;
    const start = options.folder.folder;
    const path = tree && foldersTo(tree.base, start.names);
    const inode = path?.at(-1)?.inode;
    if (tree === undefined || path === undefined || inode === undefined || !isInode(start, inode))
      return "unknown";
    const [version, { rulesVersion }] = [tree.version, this.#watched];
    const list = new WalkLister(start, { ...options.walk, watched: this.#watched });
    const key = keyOf(options);
    const earlier = this.#earlier(key);
    const requireSame = () => {
      if (tree.version !== version || options.deadline.left === 0) throw new TreeChanged();
    };
    try {
      const isWhole = await runInSlices(list.run(path, earlier), options.slice, () => {
        requireSame();
        onGrown?.(list);
      });
      if (!isWhole) return "unknown";
      // A renewed list continues where the previous one was. A list that is not kept scrubs a random part.
      const scrubAt = this.#scrubAt(key) ?? Math.floor(Math.random() * list.files.length);
      const kept = { list, version, rulesVersion, scrubAt };
      if (list.isLasting) this.#keep(key, kept);
      return kept;
    } catch (error) {
      if (error instanceof TreeChanged) return "changed";
      throw error;
    }
  }

  #earlier(key: string | undefined): EarlierList | undefined {
    const kept = key === undefined ? undefined : this.#lists.get(key);
    return kept && { ...kept, hasSameRules: kept.rulesVersion === this.#watched.rulesVersion };
  }

  #scrubAt(key: string | undefined): number | undefined {
    return key === undefined ? undefined : this.#lists.get(key)?.scrubAt;
  }

  #keep(key: string | undefined, kept: KeptList): void {
    if (key === undefined) return;
    this.#lists.delete(key);
    this.#lists.set(key, kept);
    if (this.#lists.size > maxLists) this.#lists.delete(this.#lists.keys().next().value!);
  }
}

function pathMatcher({ bytes, starts }: PathBytes, needed: NeededNgrams): (index: number) => boolean {
  const ngrams = new PathNgrams(needed);
  return (index) => ngrams.mayMatch(bytes, starts[index]!, starts[index + 1]! - 1);
}

/**
 * Returns a key of all that a list depends on besides the tree, or `undefined` if that cannot be compared.
 */
function keyOf({ walk, folder }: RunningSearch): string | undefined {
  const sets = [walk.include, walk.exclude, walk.fileNames, walk.otherFileNames].map((set) =>
    set === undefined ? null : "patterns" in set ? set.patterns : undefined,
  );
  if (sets.includes(undefined)) return undefined;
  const flags = [walk.ignoreFiles, walk.defaultExcludes].map((one) => one !== undefined);
  flags.push(walk.includesHidden !== false);
  return JSON.stringify([folder.folder.names, sets, flags, walk.globs?.patterns ?? null]);
}
