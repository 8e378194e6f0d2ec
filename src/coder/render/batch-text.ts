import { renderName } from "./entry-text.ts";

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

/** Maximum failed entries that are named. */
const maxNamed = 5;

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
