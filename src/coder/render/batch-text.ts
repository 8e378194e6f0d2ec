import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { ErrorParts, Wording } from "../../calls/contract/wording.ts";
import { renderName } from "./entry-text.ts";
import { joinLines, renderEach } from "./lines.ts";

/** The outcomes of a batch, and the words for them. */
interface Batch<Result> {
  readonly results: readonly Result[];
  /** Whether the call was a dry run. */
  readonly isTrial?: boolean | undefined;
  /** The participle of the entries that `isDone`, such as "changed". */
  readonly done: string;
  isDone(result: Result): boolean;
  nameOf(result: Result): string;
}

interface RenderedBatch<Result> extends Batch<Result>, Pick<Wording, "failure"> {
  /** Renders an entry that did not fail. */
  render(result: Result, index: number): string;
}

/** Maximum failed entries that are named. */
const maxNamed = 5;

/** Renders the first line of a batch that failed in part, and the entries below it. */
export function* renderBatch<Result extends { readonly error?: string | ErrorParts | null }>(
  batch: RenderedBatch<Result>,
): Steps<string> {
  const { results, nameOf, failure, render } = batch;
  const lines = yield* renderEach(results, (result, index) =>
    result.error ? failure(result.error, nameOf(result)) : render(result, index),
  );
  return yield* joinLines([...summarizeBatch(batch), ...lines]);
}

/**
 * Renders the first line of a batch that failed in part: the number of entries done, and the names of those
 * that failed. Returns an empty list if none failed.
 */
export function summarizeBatch<Result extends { readonly error?: unknown }>({
  results,
  isTrial = false,
  done,
  isDone,
  nameOf,
}: Batch<Result>): string[] {
  const failed = results.filter(({ error }) => Boolean(error));
  if (results.length < 2 || failed.length === 0) return [];
  const count = results.filter((result) => !result.error && isDone(result)).length;
  const names = failed.slice(0, maxNamed).map((result) => renderName(nameOf(result)));
  const more = failed.length > maxNamed ? ` and ${failed.length - maxNamed} more` : "";
  return [
    `${count} of ${results.length} ${isTrial ? "would be " : ""}${done}; failed: ${names.join(", ")}${more}`,
  ];
}
