/** Which files are as the index knows them, by the events of a watched tree (decision 35). */
import type { FileRecords } from "../../index/file-records.ts";
import type { TreeListener } from "../../watch/tree.ts";

/** Events and searches in one order: what a search finds out holds for a file that has not changed since its moment. */
export type Moment = number;

const unknown = -1;

/** Listens to a tree, and keeps the records of its files, each by the number that the tree has for the file. */
export class WatchedFiles implements TreeListener {
  /** Counts changes of files that `watchRules` has named: rules that were read from them hold as long as it is the same. */
  rulesVersion = 0;
  #now: Moment = 1;
  /** Of each file the number of its record, and when it changed last. */
  #records = new Int32Array(1024).fill(unknown);
  #changedAt = new Uint32Array(1024);
  #allChangedAt: Moment = 0;
  #linkedAt: Moment = 0;
  readonly #linked = new Set<number>();
  readonly #ruleFiles = new Set<number>();

  /** The number of the record that holds for the file since the last drain; negative for none. */
  recordOf(file: number): number {
    return this.#records[file] ?? unknown;
  }

  /** A search begins, after a drain. */
  begin(records: FileRecords): Moment {
    if (this.#linked.size > 0) this.#forgetLinked(records);
    return ++this.#now;
  }

  /** A search since this moment has seen that the file has the stamps of the record. */
  confirm(file: number, record: number, since: Moment): void {
    if (this.#allChangedAt >= since || this.#linkedAt >= since) return;
    this.#reserve(file);
    if (this.#changedAt[file]! < since) this.#records[file] = record;
  }

  /** The next search asks for the stamps of the file, as though it had changed. */
  forget(file: number): void {
    if (this.recordOf(file) !== unknown) this.#records[file] = unknown;
  }

  /** A search is about to read rules from this file. */
  watchRules(file: number): void {
    this.#ruleFiles.add(file);
  }

  onAdded(file: number): void {
    this.#change(file);
  }

  onRemoved(file: number): void {
    this.#change(file);
  }

  onDirty(file: number): void {
    this.#change(file);
  }

  onAllDirty(): void {
    this.#records.fill(unknown);
    this.#allChangedAt = this.#now;
    this.rulesVersion++;
  }

  onUnseenWrite(): void {
    this.onAllDirty();
  }

  onLinked(inode: bigint): void {
    // Two inodes that are the same in a double only make one file more be looked at.
    this.#linked.add(Number(inode));
    this.#linkedAt = this.#now;
    // An ignore file may be one of them.
    this.rulesVersion++;
  }

  #change(file: number): void {
    this.#reserve(file);
    this.#records[file] = unknown;
    this.#changedAt[file] = this.#now;
    if (this.#ruleFiles.has(file)) this.rulesVersion++;
  }

  #forgetLinked(records: FileRecords): void {
    this.#records.forEach((record, file) => {
      if (record >= 0 && this.#linked.has(records.inode(record))) this.#change(file);
    });
    this.#linked.clear();
  }

  #reserve(file: number): void {
    if (file < this.#records.length) return;
    const length = 2 ** Math.ceil(Math.log2(file + 1));
    const [records, changedAt] = [new Int32Array(length).fill(unknown), new Uint32Array(length)];
    records.set(this.#records);
    changedAt.set(this.#changedAt);
    [this.#records, this.#changedAt] = [records, changedAt];
  }
}
