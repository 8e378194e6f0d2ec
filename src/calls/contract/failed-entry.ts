/**
 * Returns whether an entry of a batch failed. Entries of a transaction have no `success`, because they fail
 * together, with the call.
 */
export function hasFailedEntry(answer: unknown): boolean {
  const { results } = answer as { readonly results?: readonly { readonly success?: boolean }[] };
  return results?.some(({ success }) => success === false) ?? false;
}
