/** An entry of a batch that failed. Its error is an object, or the same as a string, or prose. */
export interface FailedEntry {
  readonly success?: boolean;
  readonly error?: unknown;
}

interface FailedEntries {
  /** The number of entries that failed. */
  readonly failed: number;
  readonly first: FailedEntry | undefined;
  /** The number of all entries. */
  readonly total: number;
}

/**
 * Finds the failed entries of a batch. Entries of a transaction have no `success`, because they fail
 * together, with the call.
 */
export function failedEntriesIn(answer: unknown): FailedEntries {
  const { results } = (answer ?? {}) as { readonly results?: unknown };
  if (!Array.isArray(results)) return { failed: 0, first: undefined, total: 0 };
  let failed = 0;
  let first: FailedEntry | undefined;
  for (const entry of results as readonly FailedEntry[])
    if (entry?.success === false) {
      first ??= entry;
      failed++;
    }
  return { failed, first, total: results.length };
}

/** Returns whether an entry of a batch failed. */
export const hasFailedEntry = (answer: unknown): boolean => failedEntriesIn(answer).failed > 0;
