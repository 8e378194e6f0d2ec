import type { SignJob } from "../../index/filler.ts";
import type { NeededNgrams } from "../../index/needed-ngrams.ts";
import type { SignedFiles } from "../../index/sign-files.ts";
import type { LineOptions } from "../matchers/lines.ts";
import type { Query } from "../matchers/query-compiler.ts";
import type { Position } from "../place.ts";
import type { PostedFiles } from "./batches.ts";
import type { EncodedFindings } from "./findings-codec.ts";

/** What the thread that runs a search signals to those that search its batches, in shared memory; 0 is no signal. */
export const batchSignals = {
  /** The search has ended. */
  isOver: 1,
  /** The answer takes no more matches in contents. */
  contentIsOver: 2,
} as const;

/** A batch, as a message to a thread. */
export interface BatchJob {
  readonly query: Query;
  readonly lines: LineOptions;
  readonly maxFileBytes: number;
  readonly wantsPaths: boolean;
  /** Entries for matches in contents that the answer still takes. */
  readonly remainingEntries: number;
  /** UTF-16 units of their texts that the answer still takes. */
  readonly remainingUnits: number;
  /** See `FileSearch.after`. */
  readonly after: Position | undefined;
  /** Whether to say what became of each file. */
  readonly wantsOutcomes: boolean;
  /** One of `batchSignals`, or 0. */
  readonly signal: Int32Array;
  /** Whether to say which of them are as the index knows them. */
  readonly wantsKnown?: boolean;
  /** Whether to say what the index has to look for. */
  readonly wantsNeeded?: boolean;
  readonly files: PostedFiles;
}

/** What was found; or the failure, with the name of its class, which an error loses in a message. */
export type BatchReply = SearchedBatch | { readonly failure: string; readonly message: string };

export interface SearchedBatch extends EncodedFindings {
  /** What files that match have to hold, where that was requested and is known. */
  readonly needed?: NeededNgrams | undefined;
}

/** What a thread does, and what it replies. */
export type SearchJob = BatchJob | SignJob;
export type ThreadReply = BatchReply | SignedFiles;
