/** Compares names of fields as callers send them with those of a schema. */
import { synonyms, valueSynonyms } from "./synonyms.ts";

/** Returns `expectedRevision` and `expected-revision` as `expected_revision`. */
export const snakeCase = (name: string): string =>
  name
    .replace(/([a-z0-9])([A-Z])/g, "$1_$2")
    .replaceAll("-", "_")
    .toLowerCase();

/** The names of this project that a name of a caller may stand for, keyed by that. */
const meanings = invert(synonyms);

function invert(table: Readonly<Record<string, readonly string[]>>): ReadonlyMap<string, readonly string[]> {
  const inverted = new Map<string, string[]>();
  for (const [ours, theirs] of Object.entries(table)) {
    for (const name of theirs) inverted.set(name, [...(inverted.get(name) ?? []), ours]);
  }
  return inverted;
}

/** Returns the name among `fields` that `name` stands for: itself, in another case, or a synonym. */
export function fieldNamed(name: string, fields: Readonly<Record<string, unknown>>): string | undefined {
  if (Object.hasOwn(fields, name)) return name;
  const snake = snakeCase(name);
  if (Object.hasOwn(fields, snake)) return snake;
  return [...(meanings.get(name) ?? []), ...(meanings.get(snake) ?? [])].find((ours) =>
    Object.hasOwn(fields, ours),
  );
}

const valueMeanings = invert(valueSynonyms);

/** Returns the value among `values` that `text` stands for: itself, in another case, or a synonym. */
export function literalNamed(text: string, values: readonly string[]): string | undefined {
  const bare = bareName(text);
  const meaning = valueMeanings.get(text.toLowerCase()) ?? valueMeanings.get(snakeCase(text)) ?? [];
  return (
    values.find((value) => value === text) ??
    values.find((value) => bareName(value) === bare) ??
    values.find((value) => meaning.includes(value))
  );
}

const bareName = (text: string): string => text.replaceAll(/[-_ ]/g, "").toLowerCase();

/** Returns the name among `names` that is most similar to `name`, if any is similar. */
export function nearestName(name: string, names: readonly string[]): string | undefined {
  const snake = snakeCase(name);
  const ranked = names
    .map((candidate) => ({ candidate, distance: distanceBetween(snake, candidate) }))
    .filter(({ candidate, distance }) => distance <= Math.max(1, Math.floor(candidate.length / 3)))
    .sort((one, other) => one.distance - other.distance);
  return (
    ranked[0]?.candidate ??
    names.find((candidate) => snake.length > 2 && (candidate.includes(snake) || snake.includes(candidate)))
  );
}

/** Maximum length of a name that is compared. */
const longestName = 64;

/** Returns the Levenshtein distance of two names. */
function distanceBetween(one: string, other: string): number {
  if (one.length > longestName) return Number.POSITIVE_INFINITY;
  let row = Array.from({ length: other.length + 1 }, (_, index) => index);
  for (let i = 1; i <= one.length; i++) {
    const next = [i];
    for (let j = 1; j <= other.length; j++) {
      const isEqual = one[i - 1] === other[j - 1];
      next.push(Math.min(row[j]! + 1, next[j - 1]! + 1, row[j - 1]! + (isEqual ? 0 : 1)));
    }
    row = next;
  }
  return row[other.length]!;
}
