import type { WasmModule } from "../../base/wasm/module.ts";
import type { LineOptions } from "../matchers/lines.ts";
import type { Query } from "../matchers/query-compiler.ts";
import type { Position } from "../place.ts";
import type { ComparedFiles, CompareJob } from "../signatures/compare-stamps.ts";
import type { CandidateSet } from "../signatures/content-index.ts";
import type { SignJob } from "../signatures/filler.ts";
import type { NeededNgrams } from "../signatures/needed-ngrams.ts";
import type { SignedFiles } from "../signatures/sign-files.ts";
import type { PostedFiles } from "./batches.ts";
import type { EncodedFindings } from "./findings-codec.ts";

/**
 * The signals in shared memory from the thread that runs a search to those that search its batches. 0 means
 * none.
 */
export const batchSignals = {
  /** Set when the search has ended, and threads should stop. */
  isOver: 1,
  /** The answer takes no further content matches. */
  contentIsOver: 2,
} as const;

/** A batch, as a message to a thread. */
export interface BatchJob {
  readonly query: Query;
  readonly lines: LineOptions;
  readonly maxFileBytes: number;
  readonly wantsPaths: boolean;
  /** The content matches that the answer still takes. */
  readonly remainingEntries: number;
  /** The UTF-16 units of match text that the answer still takes. */
  readonly remainingUnits: number;
  /** The index of the first file to search. Earlier ones were searched already. */
  readonly first: number;
  /** See `FileSearch.after`. */
  readonly after: Position | undefined;
  /** Whether to return the outcome of each file. */
  readonly wantsOutcomes: boolean;
  /** One of `batchSignals`, or 0. */
  readonly signal: Int32Array;
  /** The record of each file that is known to be unchanged, or -1. */
  readonly records?: Int32Array | undefined;
  /** Whether to return which files are unchanged since they were indexed. */
  readonly wantsKnown?: boolean;
  /** Whether to return the n-grams that matching files contain. */
  readonly wantsNeeded?: boolean;
  readonly files: PostedFiles;
}

/** Data that several jobs share, which a thread gets once. */
export interface SharedInSearch {
  /** The compiled module of the regex engine, if the query needs it. */
  readonly engine?: WasmModule | undefined;
  /** The files that may match, if the index was consulted. */
  readonly candidates?: CandidateSet | undefined;
  /** The records that stamps are compared with. */
  readonly records?: SharedArrayBuffer;
}

/** The findings, or the failure with the name of its class, which an error loses in a message. */
export type BatchReply = SearchedBatch | { readonly failure: string; readonly message: string };

export interface SearchedBatch extends EncodedFindings {
  /** The n-grams that matching files contain, if requested and known. */
  readonly needed?: NeededNgrams | undefined;
}

/** The jobs of a search thread, and its replies. */
export type SearchJob = BatchJob | SignJob | CompareJob;
export type ThreadReply = BatchReply | SignedFiles | ComparedFiles;
