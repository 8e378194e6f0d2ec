import type { RequestPath } from "../contract/definition.ts";

/** The strings in a request that are paths, each once; not those that are a part of a longer text. */
export function pathsOf(request: unknown, fields: readonly RequestPath[]): string[] {
  const found = fields
    .filter(({ render }) => render === undefined)
    .flatMap(({ at }) => valuesAt(request, at.split("/").slice(1)));
  return [...new Set(found.filter((value) => typeof value === "string"))];
}

/** What a JSON pointer leads to, in which `*` is each item of an array. */
function valuesAt(value: unknown, [name, ...rest]: readonly string[]): unknown[] {
  if (name === undefined) return [value];
  if (typeof value !== "object" || value === null) return [];
  if (name === "*") return Object.values(value).flatMap((item) => valuesAt(item, rest));
  return valuesAt((value as Readonly<Record<string, unknown>>)[name], rest);
}
