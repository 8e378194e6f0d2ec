import { readStamps, stamps } from "../../filesystem/jail/stamps.ts";
import type { FileCursor } from "../batches/file-cursor.ts";
import type { FoundInIndex } from "../batches/findings-codec.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import { type JudgedSearch, RecordJudge } from "./record-judge.ts";

export interface KnownFilesOptions {
  readonly candidates: CandidateSet;
  readonly search: JudgedSearch;
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
  readonly #judge: RecordJudge;
  readonly #wantsKnown: boolean;
  readonly #descriptorOf: (file: FileCursor) => number;

  constructor({ candidates, search, wantsKnown, descriptorOf }: KnownFilesOptions) {
    this.#judge = new RecordJudge(candidates, search);
    this.#wantsKnown = wantsKnown;
    this.#descriptorOf = descriptorOf;
  }

  /** Implements `FileSearch.outcomeUnread`: returns the outcome of an unchanged file that does not match. */
  readonly outcomeUnread = (file: FileCursor): number | undefined => {
    if (!readStamps(this.#descriptorOf(file), file)) return undefined;
    const { records } = this.#judge;
    const number = records.find(stamps);
    if (number < 0 || !records.hasStamps(number, stamps)) {
      this.unknown.push(file.index);
      return undefined;
    }
    if (this.#wantsKnown) this.known.push(file.index, number);
    return this.#judge.outcomeOf(number);
  };
}
