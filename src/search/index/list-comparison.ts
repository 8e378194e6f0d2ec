/** Compares the stamps of the files in a list with their records, unless a search has seen them. */
import type { RunningSearch } from "../request.ts";
import type { ComparedFiles, FilesToCompare } from "../signatures/compare-stamps.ts";
import type { FileRecords } from "../signatures/file-records.ts";
import { isReported } from "./record-judge.ts";
import type { ListRange } from "./replay.ts";
import type { WalkList } from "./walk-list.ts";
import type { Moment, WatchedFiles } from "./watched-files.ts";

/** The way to compare stamps: here or in threads. */
export interface Compare {
  readonly records: FileRecords;
  /** The number of files to compare at once. */
  readonly filesAtOnce: number;
  /** Resolves to `undefined` if the thread ended. */
  run(files: FilesToCompare): Promise<ComparedFiles | undefined>;
}

export class ListComparison {
  readonly #watched: WatchedFiles;
  readonly #options: RunningSearch;
  readonly #compare: Compare;
  readonly #since: Moment;
  /** The index of the next entry to compare. */
  #next = 0;
  readonly #running: Promise<void>[] = [];

  /** Begins a comparison, after a drain. */
  constructor(watched: WatchedFiles, options: RunningSearch, compare: Compare) {
    this.#watched = watched;
    this.#options = options;
    this.#compare = compare;
    this.#since = watched.begin(compare.records);
  }

  /** Compares the next files of a list that is growing, if there are enough. */
  follow(list: WalkList): void {
    // One call per slice, since without threads the files are compared at once.
    if (this.#next + this.#compare.filesAtOnce <= list.files.length) this.#compareNext(list);
  }

  /** Compares the files that are left, or ends early at the deadline. */
  async finish(list: WalkList): Promise<void> {
    const { deadline, slice } = this.#options;
    while (this.#next < list.files.length && deadline.left > 0) {
      this.#compareNext(list);
      await slice.yieldIfDue();
    }
  }

  /** Resolves when no thread compares files. Threads use the folder of the search. */
  async ended(): Promise<void> {
    await Promise.all(this.#running);
  }

  #compareNext(list: WalkList): void {
    const from = this.#next;
    this.#next += this.#compare.filesAtOnce;
    this.#running.push(this.#compareRange(list, { from, to: this.#next }));
  }

  async #compareRange(list: WalkList, range: ListRange): Promise<void> {
    const start = this.#options.folder.folder.descriptor;
    const { numbers, ...files } = filesIn(list, range, (file) => this.#watched.recordOf(file) < 0);
    if (start === undefined || numbers.length === 0) return;
    const found = await this.#compare.run({ ...files, start });
    found?.records.forEach((record, index) => {
      if (record >= 0 && isReported(this.#compare.records, record))
        this.#watched.confirm(numbers[index]!, record, this.#since);
    });
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
