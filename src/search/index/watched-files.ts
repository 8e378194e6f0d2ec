/** Knows which files are unchanged since they were indexed, by the events of a watched tree (decision 35). */

import type { TreeListener } from "../../filesystem/watch/watched-tree.ts";
import type { FileRecords } from "../signatures/file-records.ts";

/**
 * A point in the common order of events and searches. The result of a search holds for a file that has not
 * changed since its moment.
 */
export type Moment = number;

const unknown = -1;

/** Listens to a tree, and keeps the records of its files by their numbers in the tree. */
export class WatchedFiles implements TreeListener {
  /**
   * Increases with each change of a file named to `watchRules`. Rules read from these files are valid while
   * it is unchanged.
   */
  rulesVersion = 0;
  #now: Moment = 1;
  /** The record number of each file, and the moment of its last change. */
  #records = new Int32Array(1024).fill(unknown);
  #changedAt = new Uint32Array(1024);
  #allChangedAt: Moment = 0;
  #linkedAt: Moment = 0;
  readonly #linked = new Set<number>();
  readonly #ruleFiles = new Set<number>();
  readonly #onAllChanged: () => void;

  /** `onAllChanged` is called when every file may have changed. */
  constructor(onAllChanged = () => {}) {
    this.#onAllChanged = onAllChanged;
  }

  /** Returns the number of the record that has been valid since the last drain, or a negative number. */
  recordOf(file: number): number {
    return this.#records[file] ?? unknown;
  }

  /** Begins a search, after a drain. */
  begin(records: FileRecords): Moment {
    if (this.#linked.size > 0) this.#forgetLinked(records);
    return ++this.#now;
  }

  /** Notes that a search since this moment has seen the file with the stamps of the record. */
  confirm(file: number, record: number, since: Moment): void {
    if (this.#allChangedAt >= since || this.#linkedAt >= since) return;
    this.#reserve(file);
    if (this.#changedAt[file]! < since) this.#records[file] = record;
  }

  /** Makes the next search read the stamps of the file, as if it had changed. */
  forget(file: number): void {
    if (this.recordOf(file) !== unknown) this.#records[file] = unknown;
  }

  /** Notes that a search is about to read rules from this file. */
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
    this.#onAllChanged();
  }

  onUnseenWrite(): void {
    this.onAllDirty();
  }

  onLinked(inode: bigint): void {
    // If two inodes are the same double, one more file is checked, and nothing else.
    this.#linked.add(Number(inode));
    this.#linkedAt = this.#now;
    // The linked file may be an ignore file.
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
