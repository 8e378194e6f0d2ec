import type { CandidateSet } from "../../index/content-index.ts";
import { FileRecords, fileFlags } from "../../index/file-records.ts";
import type { LineOptions } from "../matchers/lines.ts";
import type { Query } from "../matchers/query-compiler.ts";
import { longestText } from "../matchers/spans.ts";
import { outcomes } from "../walk/tally.ts";

export interface JudgedSearch {
  readonly query: Query;
  readonly lines: Pick<LineOptions, "findsBinaries">;
  /** The search skips larger files. */
  readonly maxFileBytes: number;
}

/** Says what a search would come to in files that are as their records say. */
export class RecordJudge {
  readonly records: FileRecords;
  readonly #mayMatch: Int32Array;
  readonly #maxBytes: number;
  readonly #neverSkips: number;
  readonly #findsBinaries: boolean;

  constructor({ records, mayMatch }: CandidateSet, { query, lines, maxFileBytes }: JudgedSearch) {
    this.records = new FileRecords(records);
    this.#mayMatch = new Int32Array(mayMatch);
    this.#maxBytes = query.multiline ? Math.min(maxFileBytes, longestText) : maxFileBytes;
    this.#findsBinaries = lines.findsBinaries === true;
    // Where matches span lines, a candidate that is no match distinguishes a binary from a text.
    const isUnclear = query.multiline === true && !this.#findsBinaries;
    this.#neverSkips = fileFlags.alwaysRead | (isUnclear ? fileFlags.holdsNul : 0);
  }

  /** What becomes of the file with this record (`outcomes`), if it need not be read: nothing in it matches. */
  outcomeOf(record: number): number | undefined {
    const flags = this.records.flags(record);
    if ((flags & this.#neverSkips) !== 0) return undefined;
    if ((this.#mayMatch[record >>> 5]! & (1 << (record & 31))) !== 0) return undefined;
    if ((flags & fileFlags.isBinary) !== 0) return outcomes.binary;
    const size = this.records.size(record);
    if (size > this.#maxBytes) return outcomes.tooLarge;
    return this.#findsBinaries && (flags & fileFlags.holdsNul) !== 0 ? outcomes.binary : size;
  }

  /** Whether events say when the file with this record changes. */
  isReported(record: number): boolean {
    return (this.records.flags(record) & unreportedFlags) === 0;
  }
}

const unreportedFlags = fileFlags.alwaysRead | fileFlags.hasSeveralNames;
