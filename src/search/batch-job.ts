import type { SearchAnswerBuilder } from "./answer.ts";
import type { Batch } from "./batches.ts";
import type { IndexUse } from "./indexing.ts";
import type { SearchRequest } from "./request.ts";
import type { ResultPage } from "./result-page.ts";
import type { BatchJob } from "./thread.ts";

interface JobOptions {
  readonly request: SearchRequest;
  readonly answer: SearchAnswerBuilder;
  readonly page: ResultPage | undefined;
  readonly signal: Int32Array;
  readonly indexUse: IndexUse | undefined;
}

/** What a thread is to search for in a batch: no more than the answer, as it is now, still takes. */
export function batchJobOf(batch: Batch, { request, answer, page, signal, indexUse }: JobOptions): BatchJob {
  const { query, lines, maxFileBytes, maxAnswerBytes } = request;
  return {
    query,
    lines,
    maxFileBytes,
    wantsPaths: answer.wantsPaths,
    remainingEntries: answer.wantsContent ? answer.remainingEntries : 0,
    remainingUnits: page === undefined ? maxAnswerBytes : answer.remainingUnits,
    after: page?.afterIn(batch),
    wantsOutcomes: page !== undefined,
    signal,
    wantsKnown: indexUse?.wantsKnown === true,
    wantsNeeded: batch.isEmpty && indexUse?.wantsNeeded === true,
    files: batch.post(answer.wantsPaths),
  };
}
