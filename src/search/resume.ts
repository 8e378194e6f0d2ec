import type { Batch } from "./batches.ts";
import type { PendingBatch } from "./pending.ts";
import { laterPlace, type Place } from "./place.ts";
import type { ResultPage } from "./result-page.ts";
import type { Walk } from "./walk.ts";

/** The first file of a batch of this thread that the deadline kept from being searched. */
export interface UnfinishedBatch {
  readonly batch: Batch;
  readonly index: number;
}

interface EndedSearch {
  readonly page: ResultPage;
  readonly walk: Pick<Walk, "position">;
  /** Batches whose findings are not in the page. */
  readonly pending: readonly PendingBatch[];
  readonly unfinished: UnfinishedBatch | undefined;
}

/** Of a search that ended early, the first file or folder that was not searched to its end; undefined when all were. */
export function placeToResume({ page, walk, pending, unfinished }: EndedSearch): Place | undefined {
  const first = pending.find(({ batch }) => !batch.isEmpty)?.batch;
  const { batch, index } = unfinished ?? { batch: first, index: 0 };
  if (batch !== undefined) page.noteExcluded(batch.excludedBefore(index));
  const file = batch === undefined ? walk.position : batch.walkedPathOf(index);
  return file === undefined ? undefined : laterPlace(file, page.after);
}
