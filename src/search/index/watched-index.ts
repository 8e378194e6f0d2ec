/**
 * Searches by an index and a watched tree, which read from disk only files that may match or may have changed
 * (decision 35).
 */

import { deadlineIn, unlessOver } from "../../base/scheduling/deadline.ts";
import { runAtOnce, runInSlices } from "../../base/scheduling/time-slice.ts";
import type { SharedTree, TreeSubscription } from "../../filesystem/watch/shared-tree.ts";
import type { WatchedFolder } from "../../filesystem/watch/watched-tree.ts";
import type { RunningSearch } from "../request.ts";
import type { ComparedFiles, FilesToCompare } from "../signatures/compare-stamps.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import type { FileRecords } from "../signatures/file-records.ts";
import type { NeededNgrams } from "../signatures/needed-ngrams.ts";
import type { QueryResults } from "./kept-results.ts";
import { isInode, TreeChanged } from "./listed-folder.ts";
import { type PathBytes, PathNgrams, pathBytesOf } from "./path-ngrams.ts";
import { isReported, RecordJudge } from "./record-judge.ts";
import { type ListRange, Replay } from "./replay.ts";
import { type WalkList, WalkLister } from "./walk-list.ts";
import { WatchedFiles } from "./watched-files.ts";

/** Maximum lists that are kept. Searches of one caller mostly share folder and globs. */
const maxLists = 4;
/** Maximum attempts to make a list while the tree keeps changing. */
const maxTries = 3;
/** The number of files that a search scrubs, which takes about a millisecond. */
const defaultScrubbed = 128;

/** A list of files, with the state of the tree that it depends on. */
interface KeptList {
  readonly list: WalkList;
  readonly version: number;
  readonly rulesVersion: number;
  paths?: PathBytes;
  /** The index in the list where the next search scrubs. */
  scrubAt: number;
}

/** Compares stamps, here or in threads. */
interface Compare {
  /** The number of files to compare at once. */
  readonly filesAtOnce: number;
  /** Resolves to `undefined` if the thread ended. */
  run(files: FilesToCompare): Promise<ComparedFiles | undefined>;
}

/** The needs of a search, judged by the index. */
interface Judged {
  readonly needed: NeededNgrams;
  readonly candidates: CandidateSet;
  readonly results: QueryResults;
  readonly after: string | undefined;
}

export class WatchedIndex {
  readonly #shared: Pick<SharedTree, "subscribe">;
  readonly #watched = new WatchedFiles();
  /** The lists by all that they depend on besides the tree, least recently used first. */
  readonly #lists = new Map<string, KeptList>();
  #subscription: TreeSubscription | undefined;
  readonly #scrubbedFiles: number;
  #isOpened = false;

  /**
   * Creates an index over a shared tree. Each search reads the stamps of `scrubbedFiles` files of its list
   * even without an event, because some changes raise none. The next search continues from there.
   */
  constructor(shared: Pick<SharedTree, "subscribe">, scrubbedFiles = defaultScrubbed) {
    this.#shared = shared;
    this.#scrubbedFiles = scrubbedFiles;
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
   * Updates the tree, and lists the files of the search. Returns `undefined` if not all of them are known, or
   * if this would take more than `milliseconds`.
   */
  async prepare(options: RunningSearch, milliseconds?: number): Promise<KeptList | undefined> {
    if (milliseconds === undefined) return await this.#prepare(options);
    const deadline = deadlineIn(milliseconds, options.deadline.signal);
    try {
      return await this.#prepare({ ...options, deadline });
    } finally {
      deadline.end();
    }
  }

  async #prepare(options: RunningSearch): Promise<KeptList | undefined> {
    if (!(await this.#isUpToDate(options))) return undefined;
    for (let tries = 0; tries < maxTries; tries++) {
      const kept = this.#kept(options) ?? (await this.#makeList(options));
      if (kept === undefined || this.#isValid(kept)) return kept;
    }
    return undefined;
  }

  /**
   * Selects the files of a list that the search has to read, as of a single moment. Resolves to `undefined`
   * if the tree has changed since the list was prepared.
   */
  async replay(kept: KeptList, options: RunningSearch, judged: Judged): Promise<Replay | undefined> {
    const scrubbed = this.#nextScrubbed(kept);
    if (options.request.paths) kept.paths ??= await runInSlices(pathBytesOf(kept.list), options.slice);
    for (let tries = 0; this.#isValid(kept); tries++) {
      const replay = this.#replayOf(kept, options, judged, scrubbed);
      const { changes } = this.#watched;
      const requireSame = () => {
        if (this.#watched.changes !== changes || !this.#isValid(kept)) throw new TreeChanged();
      };
      try {
        if (tries === maxTries) runAtOnce(replay.select());
        else await runInSlices(replay.select(), options.slice, requireSame);
        return replay;
      } catch (error) {
        if (!(error instanceof TreeChanged)) throw error;
      }
    }
    return undefined;
  }

  #replayOf(
    kept: KeptList,
    options: RunningSearch,
    { needed, candidates, results, after }: Judged,
    scrubbed: ListRange,
  ): Replay {
    const judge = new RecordJudge(candidates, options.request);
    return new Replay({
      list: kept.list,
      jail: options.walk.jail,
      watched: this.#watched,
      judge,
      results,
      since: this.#watched.begin(judge.records),
      scrubbed,
      after,
      mayMatchPath: options.request.paths ? pathMatcher(kept.paths!, needed) : undefined,
    });
  }

  /**
   * Compares the stamps of all files of a search with their records, if no search has seen them, so that
   * searches need not. Ends early at the deadline, and if the tree does not know the files.
   */
  async confirm(options: RunningSearch, records: FileRecords, { filesAtOnce, run }: Compare): Promise<void> {
    const { deadline, slice, folder } = options;
    const start = folder.folder.descriptor;
    if (start === undefined || !(await this.#isUpToDate(options))) return;
    const since = this.#watched.begin(records);
    const compare = async (list: WalkList, range: ListRange) => {
      const { numbers, ...files } = filesIn(list, range, (file) => this.#watched.recordOf(file) < 0);
      if (numbers.length === 0) return;
      const found = await run({ ...files, start });
      found?.records.forEach((record, index) => {
        if (record >= 0 && isReported(records, record)) this.#watched.confirm(numbers[index]!, record, since);
      });
    };
    const comparing: Promise<void>[] = [];
    let from = 0;
    const compareNext = (list: WalkList) => {
      comparing.push(compare(list, { from, to: from + filesAtOnce }));
      from += filesAtOnce;
    };
    // Threads compare the first files while the others are being listed. One call per slice, since without
    // threads the files are compared at once.
    const onGrown = (list: WalkList) => {
      if (from + filesAtOnce <= list.files.length) compareNext(list);
    };
    try {
      const kept = this.#kept(options) ?? (await this.#makeList(options, onGrown));
      while (kept !== undefined && from < kept.list.files.length && deadline.left > 0) {
        compareNext(kept.list);
        await slice.yieldIfDue();
      }
    } finally {
      // They use the folder of the search.
      await Promise.all(comparing);
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

  /** Makes a list, and calls `onGrown` from time to time with what it has so far. */
  async #makeList(options: RunningSearch, onGrown?: (list: WalkList) => void): Promise<KeptList | undefined> {
    const tree = this.#subscription?.tree;
    const start = options.folder.folder;
    const path = tree && foldersTo(tree.base, start.names);
    const inode = path?.at(-1)?.inode;
    if (tree === undefined || path === undefined || inode === undefined || !isInode(start, inode))
      return undefined;
    const [version, { rulesVersion }] = [tree.version, this.#watched];
    const list = new WalkLister(start, { ...options.walk, watched: this.#watched });
    const requireSame = () => {
      if (tree.version !== version || options.deadline.left === 0) throw new TreeChanged();
    };
    try {
      const isWhole = await runInSlices(list.run(path), options.slice, () => {
        requireSame();
        onGrown?.(list);
      });
      if (!isWhole) return undefined;
      const key = keyOf(options);
      // A renewed list continues where the previous one was. A list that is not kept scrubs a random part.
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
    if (this.#lists.size > maxLists) this.#lists.delete(this.#lists.keys().next().value!);
  }
}

/** Returns the wanted files in a range of a list, by folder, with their numbers in the tree. */
function filesIn(
  list: WalkList,
  { from, to }: ListRange,
  isWanted: (file: number) => boolean,
): Omit<FilesToCompare, "start"> & { readonly numbers: readonly number[] } {
  const byFolder = new Map<number, { names: string; readonly numbers: number[] }>();
  for (let index = from; index < Math.min(to, list.files.length); index++) {
    const file = list.files[index]!;
    if (file < 0 || !isWanted(file)) continue;
    const folder = list.folders[index]!;
    const files = byFolder.get(folder) ?? { names: "", numbers: [] };
    byFolder.set(folder, files);
    files.names += `${list.keys[index]!}\0`;
    files.numbers.push(file);
  }
  let [names, count] = ["", 0];
  const firsts: number[] = [];
  for (const files of byFolder.values()) {
    firsts.push(count);
    count += files.numbers.length;
    names += files.names;
  }
  const places = [...byFolder.keys()].map((folder) => list.places[folder]!);
  return {
    names,
    count,
    firsts,
    folders: places.map(({ walked }) => `${walked}\0`).join(""),
    inodes: BigUint64Array.from(places, ({ inode }) => inode),
    numbers: [...byFolder.values()].flatMap(({ numbers }) => numbers),
  };
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

/** Returns the folders from the base to the one with these names, or `undefined` if the tree lacks one. */
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
