/** Finds the name that a mistyped one most likely stands for. */
import { distance } from "fastest-levenshtein";

/** Maximum length of a name that is compared. */
const maxNameLength = 64;

/** Returns the name among `names` that is most similar to `name`, if any is similar. */
export function maxSimilar(name: string, names: readonly string[]): string | undefined {
  const ranked = (name.length > maxNameLength ? [] : names)
    .map((candidate) => ({ candidate, edits: distance(name, candidate) }))
    .filter(
      ({ candidate, edits }) =>
        edits < candidate.length && edits <= Math.max(1, Math.floor(candidate.length / 3)),
    )
    .sort((one, other) => one.edits - other.edits);
  return (
    ranked[0]?.candidate ??
    names
      .filter((candidate) => name.length > 2 && (candidate.includes(name) || name.includes(candidate)))
      .sort((one, other) => one.length - other.length)[0]
  );
}
