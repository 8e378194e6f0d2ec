/** Compares names of fields as callers send them with those of a schema. */
import { maxSimilar } from "../../base/similar-name.ts";
import { synonyms, valueSynonyms } from "./synonyms.ts";

/**
 * Maximum length of a name or word that is compared with known ones. All of these are shorter, and a caller
 * may send megabytes.
 */
export const maxComparedLength = 64;

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
  if (name.length > maxComparedLength) return undefined;
  const snake = snakeCase(name);
  if (Object.hasOwn(fields, snake)) return snake;
  return [...(meanings.get(name) ?? []), ...(meanings.get(snake) ?? [])].find((ours) =>
    Object.hasOwn(fields, ours),
  );
}

const valueMeanings = invert(valueSynonyms);

/** Returns the value among `values` that `text` stands for: itself, in another case, or a synonym. */
export function literalNamed(text: string, values: readonly string[]): string | undefined {
  if (values.includes(text)) return text;
  if (text.length > maxComparedLength) return undefined;
  const bare = bareName(text);
  const meaning = valueMeanings.get(text.toLowerCase()) ?? valueMeanings.get(snakeCase(text)) ?? [];
  return values.find((value) => bareName(value) === bare) ?? values.find((value) => meaning.includes(value));
}

const bareName = (text: string): string => text.replaceAll(/[-_ ]/g, "").toLowerCase();

/** Returns the name among `names` that is most similar to `name`, if any is similar. */
export const nearestName = (name: string, names: readonly string[]): string | undefined =>
  name.length > maxComparedLength ? undefined : maxSimilar(snakeCase(name), names);
