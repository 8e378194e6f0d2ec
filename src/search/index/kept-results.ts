/**
 * Keeps the results of searches in single files, for later searches with the same query (decision 68). Files
 * are known by the number of their record, which proves that their content is the same.
 */

import type { FileMatches } from "../batches/files.ts";
import { unitsOf } from "../matchers/lines.ts";
import type { SearchRequest } from "../request.ts";

/** The result of a search in one file that matches. */
export interface FileResult extends FileMatches {
  /** The outcome of the file (`outcomes`) in a search for a page; otherwise 0. */
  readonly outcome: number;
}

/** The part of a request that the results in a file depend on. */
export type KeyedRequest = Pick<SearchRequest, "query" | "lines" | "maxFileBytes" | "page">;

/** Maximum queries whose results are kept. Agents rarely return to an older one. */
const maxQueries = 32;
/** Estimates of what an entry takes besides its text, in bytes. */
const resultBytes = 200;
const lineBytes = 120;
const bytesPerUnit = 2;

/** The results in files for one query. */
export class QueryResults {
  /** A bit per record of files without a match. */
  #withoutMatch = new Int32Array(0);
  readonly #matching = new Map<number, FileResult>();
  /** Takes memory, or returns false if there is not enough. */
  readonly #take: (bytes: number, owner: QueryResults) => boolean;
  /** The bytes that `take` has granted, until the results are dropped. */
  bytes = 0;

  constructor(take: (bytes: number, owner: QueryResults) => boolean) {
    this.#take = take;
  }

  /** Returns the result in a file with matches, if it is kept. */
  matchesIn(record: number): FileResult | undefined {
    return this.#matching.get(record);
  }

  /** Clears the bits of files that are known not to match. Reserves room for all files of the set. */
  ruleOut(mayMatch: Int32Array): void {
    this.#reserve(mayMatch.length);
    const words = Math.min(mayMatch.length, this.#withoutMatch.length);
    for (let word = 0; word < words; word++) mayMatch[word]! &= ~this.#withoutMatch[word]!;
  }

  #reserve(length: number): void {
    const old = this.#withoutMatch;
    if (length <= old.length || !this.#take((length - old.length) * old.BYTES_PER_ELEMENT, this)) return;
    this.#withoutMatch = new Int32Array(length);
    this.#withoutMatch.set(old);
  }

  /** Keeps that a file has no match, if there is room. */
  addWithoutMatch(record: number): void {
    const word = record >>> 5;
    if (word < this.#withoutMatch.length) this.#withoutMatch[word]! |= 1 << (record & 31);
  }

  /** Keeps all matches of a file. */
  addMatches(record: number, { lines, count, matches, outcome }: FileResult): void {
    if (this.#matching.has(record)) return;
    const units = lines.reduce((sum, line) => sum + lineBytes + bytesPerUnit * unitsOf(line), resultBytes);
    if (!this.#take(units, this)) return;
    this.#matching.set(record, { lines, count, ...(matches !== undefined && { matches }), outcome });
  }

  /** Forgets the result in a file. Its memory counts until the results of the query are dropped. */
  forget(record: number): void {
    this.#matching.delete(record);
    const word = record >>> 5;
    if (word < this.#withoutMatch.length) this.#withoutMatch[word]! &= ~(1 << (record & 31));
  }
}

/** The results of the last queries, within a limit of memory. */
export class KeptResults {
  readonly #maxBytes: number;
  /** The results by query, least recently used first. */
  readonly #queries = new Map<string, QueryResults>();
  #bytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  get bytes(): number {
    return this.#bytes;
  }

  /** Returns the results for the query of a request, and makes it the one that was used last. */
  of({ query, lines, maxFileBytes, page }: KeyedRequest): QueryResults {
    // Only a search for a page finds out which lines are too long.
    const key = JSON.stringify([query, lines, maxFileBytes, page !== undefined]);
    const results =
      this.#queries.get(key) ?? new QueryResults((bytes, owner) => this.#takeFor(key, bytes, owner));
    this.#queries.delete(key);
    this.#queries.set(key, results);
    if (this.#queries.size > maxQueries) this.#dropOldest();
    return results;
  }

  /** Forgets all results in a file whose record is replaced. */
  forget(record: number): void {
    for (const results of this.#queries.values()) results.forget(record);
  }

  /** Takes memory for a query. Drops the results of others that were used before it. */
  #takeFor(key: string, bytes: number, owner: QueryResults): boolean {
    while (this.#queries.get(key) === owner) {
      if (this.#bytes + bytes <= this.#maxBytes) {
        this.#bytes += bytes;
        owner.bytes += bytes;
        return true;
      }
      if (this.#queries.keys().next().value === key) return false;
      this.#dropOldest();
    }
    return false;
  }

  #dropOldest(): void {
    const [key, { bytes }] = this.#queries.entries().next().value!;
    this.#queries.delete(key);
    this.#bytes -= bytes;
  }
}
