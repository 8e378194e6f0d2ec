import { readStamps, stamps } from "../../filesystem/jail/stamps.ts";
import type { FileCursor } from "../batches/file-cursor.ts";
import type { FoundInIndex } from "../batches/findings-codec.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import { type JudgedSearch, RecordJudge } from "./record-judge.ts";

export interface KnownFilesOptions {
  readonly candidates: CandidateSet;
  readonly search: JudgedSearch;
  /** The record of each file that is known to be unchanged, or -1. Absent if none is. */
  readonly records: Int32Array | undefined;
  /** Whether to report the files that are unchanged since they were indexed. */
  readonly wantsKnown: boolean;
  /** Returns the descriptor of the folder of a file. */
  readonly descriptorOf: (file: FileCursor) => number;
}

/**
 * Finds the files that need not be read, because the index has seen with their current stamps that they do
 * not match.
 */
export class KnownFiles implements FoundInIndex {
  readonly unknown: number[] = [];
  readonly known: number[] = [];
  readonly matching: number[] = [];
  readonly withoutMatch: number[] = [];
  /** The record of the current file, or -1 if its stamps are not those of one. */
  #record = -1;
  /** Whether the file still had these stamps after it was read. */
  #isSame = false;
  readonly #judge: RecordJudge;
  readonly #isFull: boolean;
  readonly #records: Int32Array | undefined;
  readonly #wantsKnown: boolean;
  readonly #descriptorOf: (file: FileCursor) => number;

  constructor({ candidates, search, records, wantsKnown, descriptorOf }: KnownFilesOptions) {
    this.#judge = new RecordJudge(candidates, search);
    this.#isFull = candidates.isFull;
    this.#records = records;
    this.#wantsKnown = wantsKnown;
    this.#descriptorOf = descriptorOf;
  }

  /**
   * Implements `IndexedFiles.outcomeUnread`: returns the outcome of an unchanged file that does not match.
   */
  readonly outcomeUnread = (file: FileCursor): number | undefined => {
    this.#record = this.#records?.[file.index] ?? -1;
    this.#isSame = false;
    if (this.#record >= 0) return this.#judge.outcomeOf(this.#record);
    if (!readStamps(this.#descriptorOf(file), file)) return undefined;
    const { records } = this.#judge;
    const number = records.find(stamps);
    if (number < 0 || !records.hasStamps(number, stamps)) {
      // A full index has room for it only if it knows the file.
      if (number >= 0 || !this.#isFull) this.unknown.push(file.index);
      return undefined;
    }
    if (this.#wantsKnown) this.known.push(file.index, number);
    this.#record = number;
    return this.#judge.outcomeOf(number);
  };

  /** Implements `IndexedFiles.onRead`. */
  readonly onRead = (file: FileCursor, descriptor: number): void => {
    if (this.#record < 0) return;
    this.#isSame = readStamps(descriptor) && this.#judge.records.hasStamps(this.#record, stamps);
    if (!this.#isSame) this.unknown.push(file.index);
  };

  /** Implements `IndexedFiles.wantsResult`. */
  get wantsResult(): boolean {
    return this.#isSame;
  }

  /** Implements `IndexedFiles.onWholeResult`. */
  readonly onWholeResult = (file: FileCursor, isMatching: boolean, outcome: number): void => {
    const expected = this.#judge.outcomeWithoutMatch(this.#record);
    if (expected === undefined) return;
    if (isMatching) this.matching.push(file.index, this.#record);
    else if (outcome === expected) this.withoutMatch.push(this.#record);
  };
}
