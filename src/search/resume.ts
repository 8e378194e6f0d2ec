import type { SearchAnswerBuilder } from "./answer.ts";
import type { Batch } from "./batches.ts";
import type { PendingBatch } from "./pending.ts";
import { laterPlace, type Place } from "./place.ts";
import type { Found } from "./request.ts";
import type { ResultPage } from "./result-page.ts";
import type { Walk } from "./walk.ts";

/** The first file of a batch of this thread that the deadline kept from being searched. */
export interface UnfinishedBatch {
  readonly batch: Batch;
  readonly index: number;
}

interface EndedSearch {
  readonly answer: SearchAnswerBuilder;
  readonly page: ResultPage | undefined;
  readonly walk: Pick<Walk, "position" | "passedOver" | "firstLeftOut" | "unmatchedGlobs">;
  /** Batches whose findings are not in the page. */
  readonly pending: readonly PendingBatch[];
  readonly unfinished: UnfinishedBatch | undefined;
  /** Whether all paths by rank are in the answer, where any are to be. */
  readonly isRanked: boolean;
  readonly endsEarly: boolean;
}

/** The answer of a search that has ended. */
export function renderFound(ended: EndedSearch): Found {
  const { answer, page, walk, isRanked, endsEarly } = ended;
  if (page === undefined) return answer.render();
  const { stoppedBy: by } = answer;
  if (by !== undefined) return answer.render(page.fields(walk, { by, at: page.lastPlace }));
  const resumed = endsEarly ? placeToResume({ ...ended, page }) : undefined;
  const at = isRanked ? resumed : page.lastPlace;
  if (at === undefined) return answer.render(page.fields(walk));
  answer.cut();
  return answer.render(page.fields(walk, { by: "deadline", at }));
}

/** Of a search that ended early, the first file or folder that was not searched to its end; undefined when all were. */
function placeToResume({
  page,
  walk,
  pending,
  unfinished,
}: EndedSearch & { readonly page: ResultPage }): Place | undefined {
  const first = pending.find(({ batch }) => !batch.isEmpty)?.batch;
  const { batch, index } = unfinished ?? { batch: first, index: 0 };
  if (batch !== undefined) page.notePassedOver(batch.passedOverBefore(index));
  const file = batch === undefined ? walk.position : batch.walkedPathOf(index);
  return file === undefined ? undefined : laterPlace(file, page.after);
}
