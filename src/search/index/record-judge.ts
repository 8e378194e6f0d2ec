import type { LineOptions } from "../matchers/lines.ts";
import type { Query } from "../matchers/query-compiler.ts";
import { maxTextBytes } from "../matchers/spans.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import { FileRecords, fileFlags } from "../signatures/file-records.ts";
import { outcomes } from "../walk/tally.ts";

export interface JudgedSearch {
  readonly query: Query;
  readonly lines: Pick<LineOptions, "findsBinaries">;
  /** Maximum bytes of a file. Larger files are skipped. */
  readonly maxFileBytes: number;
}

/** Predicts the outcome of a search in files that are unchanged since they were recorded. */
export class RecordJudge {
  readonly records: FileRecords;
  readonly #mayMatch: Int32Array;
  readonly #maxBytes: number;
  readonly #neverSkips: number;
  readonly #findsBinaries: boolean;

  constructor({ records, mayMatch }: CandidateSet, { query, lines, maxFileBytes }: JudgedSearch) {
    this.records = new FileRecords(records);
    this.#mayMatch = new Int32Array(mayMatch);
    this.#maxBytes = query.multiline ? Math.min(maxFileBytes, maxTextBytes) : maxFileBytes;
    this.#findsBinaries = lines.findsBinaries === true;
    // If matches span lines, only a search in the candidates shows whether a file counts as binary.
    const isUnclear = query.multiline === true && !this.#findsBinaries;
    this.#neverSkips = fileFlags.alwaysRead | (isUnclear ? fileFlags.holdsNul : 0);
  }

  /**
   * Returns the outcome of the file with this record (`outcomes`) if nothing in it matches, so that it need
   * not be read.
   */
  outcomeOf(record: number): number | undefined {
    const mayMatch = (this.#mayMatch[record >>> 5]! & (1 << (record & 31))) !== 0;
    return mayMatch ? undefined : this.outcomeWithoutMatch(record);
  }

  /**
   * Returns the outcome of the file with this record if nothing in it matches, or `undefined` if only a
   * search shows it.
   */
  outcomeWithoutMatch(record: number): number | undefined {
    const flags = this.records.flags(record);
    if ((flags & this.#neverSkips) !== 0) return undefined;
    if ((flags & fileFlags.isBinary) !== 0) return outcomes.binary;
    const size = this.records.size(record);
    if (size > this.#maxBytes) return outcomes.tooLarge;
    return this.#findsBinaries && (flags & fileFlags.holdsNul) !== 0 ? outcomes.binary : size;
  }

  /** Like the function of this name. */
  isReported(record: number): boolean {
    return isReported(this.records, record);
  }
}

/** Returns whether events report all changes of the file with this record. */
export const isReported = (records: FileRecords, record: number): boolean =>
  (records.flags(record) & unreportedFlags) === 0;

const unreportedFlags = fileFlags.alwaysRead | fileFlags.hasSeveralNames;
