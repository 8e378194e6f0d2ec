/** Finds the name that a mistyped one most likely stands for. */
import { distance } from "fastest-levenshtein";

/** Maximum length of a name that is compared. */
const maxNameLength = 64;

/**
 * Returns the file name among `names` that differs from `name` in its extension, or in one of four characters
 * before that, if any. The first of several is returned.
 */
export function nearestFileName(name: string, names: readonly string[]): string | undefined {
  const stemOf = (one: string) => one.replace(/(?<=.)\.[^.]*$/, "");
  const stem = stemOf(name).toLowerCase();
  if (name.length > maxNameLength) return undefined;
  const lower = name.toLowerCase();
  const editsOf = (candidate: string) => {
    if (stemOf(candidate) === stem) return 0;
    // The distance is at least that, and takes longer to compute.
    const difference = Math.abs(candidate.length - lower.length);
    return difference * 4 > stem.length ? difference : distance(lower, candidate);
  };
  return names
    .map((candidate) => ({ candidate, edits: editsOf(candidate.toLowerCase()) }))
    .filter(({ edits }) => edits * 4 <= stem.length)
    .sort((one, other) => one.edits - other.edits)[0]?.candidate;
}

/** Returns the name among `names` that is most similar to `name`, if any is similar. */
export function maxSimilar(name: string, names: readonly string[]): string | undefined {
  const ranked = (name.length > maxNameLength ? [] : names)
    .map((candidate) => ({
      candidate,
      edits: isExchanged(name, candidate) ? 1 : distance(name, candidate),
    }))
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

/** Returns the names, the most similar to `name` first. Names that are equally similar keep their order. */
export const bySimilarity = (name: string, names: readonly string[]): string[] =>
  name.length > maxNameLength
    ? [...names]
    : names.toSorted((one, other) => distance(name, one) - distance(name, other));

/** Minimum length of a name that `misspelt` recognizes: a shorter one is close to too many words. */
const minMisspeltLength = 5;

/**
 * Returns the name among `names` that `name` spells with one typo: a letter that is missing, additional or
 * wrong, or two that are exchanged.
 */
export function misspelt(name: string, names: readonly string[]): string | undefined {
  if (name.length > maxNameLength) return undefined;
  return names.find(
    (candidate) =>
      candidate.length >= minMisspeltLength &&
      (distance(name, candidate) === 1 || isExchanged(name, candidate)),
  );
}

/** Returns whether two neighbouring letters of one name are exchanged in the other. */
function isExchanged(name: string, other: string): boolean {
  const at = [...name].findIndex((letter, index) => letter !== other[index]);
  const exchanged = `${name.slice(0, at)}${name[at + 1]}${name[at]}${name.slice(at + 2)}`;
  return at >= 0 && exchanged === other;
}
