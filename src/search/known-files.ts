import type { CandidateSet } from "../index/content-index.ts";
import { FileRecords, fileFlags } from "../index/file-records.ts";
import { readStamps, sizeAt, stamps } from "../jail/stamps.ts";
import type { FileCursor } from "./file-cursor.ts";
import type { Query } from "./query-compiler.ts";
import { longestText } from "./spans.ts";
import { outcomes } from "./tally.ts";

interface SearchLimits {
  readonly query: Query;
  /** The search skips larger files. */
  readonly maxFileBytes: number;
}

/** Finds the files that need not be read: their stamps are those with which the index has seen that they do not match. */
export class KnownFiles {
  /** Indices of the files that the index does not know as they are. */
  readonly unknown: number[] = [];
  readonly #records: FileRecords;
  readonly #mayMatch: Int32Array;
  readonly #descriptorOf: (file: FileCursor) => number;
  readonly #maxBytes: number;
  readonly #neverSkips: number;

  constructor(
    { records, mayMatch }: CandidateSet,
    { query, maxFileBytes }: SearchLimits,
    descriptorOf: (file: FileCursor) => number,
  ) {
    this.#records = new FileRecords(records);
    this.#mayMatch = new Int32Array(mayMatch);
    this.#descriptorOf = descriptorOf;
    this.#maxBytes = query.multiline ? Math.min(maxFileBytes, longestText) : maxFileBytes;
    // Where matches span lines, a candidate that is no match distinguishes a binary from a text.
    this.#neverSkips = fileFlags.alwaysRead | (query.multiline ? fileFlags.holdsNul : 0);
  }

  /** `FileSearch.outcomeUnread`. */
  readonly outcomeUnread = (file: FileCursor): number | undefined => {
    if (!readStamps(this.#descriptorOf(file), file)) return undefined;
    const records = this.#records;
    const number = records.find(stamps);
    if (number < 0 || !records.hasStamps(number, stamps)) {
      this.unknown.push(file.index);
      return undefined;
    }
    const flags = records.flags(number);
    if ((flags & this.#neverSkips) !== 0) return undefined;
    if ((this.#mayMatch[number >>> 5]! & (1 << (number & 31))) !== 0) return undefined;
    if ((flags & fileFlags.isBinary) !== 0) return outcomes.binary;
    const size = stamps[sizeAt]! + stamps[sizeAt + 1]! * 2 ** 32;
    return size > this.#maxBytes ? outcomes.tooLarge : size;
  };
}
