import { isDeepStrictEqual } from "node:util";
import type { Client } from "./clients.ts";
import { deleteAt, isMapping, type Mapping, mergeAt, type Syntax, Unchangeable } from "./syntax.ts";

const loaders: Readonly<Record<Client["syntax"], () => Promise<Syntax>>> = {
  json: async () => (await import("./json.ts")).strictJson,
  jsonc: async () => (await import("./json.ts")).jsonWithComments,
  toml: async () => (await import("./toml.ts")).toml,
};

/**
 * Returns `text` with `fields` in the entry at `path`, or without the entry if `fields` is undefined. Fields
 * that the user added to the entry stay. Throws an `Unchangeable` if the text is not valid, or if the edit
 * does not have exactly this effect.
 */
export async function withEntry(
  text: string,
  syntaxName: Client["syntax"],
  { path, fields }: { readonly path: readonly string[]; readonly fields: Readonly<Mapping> | undefined },
): Promise<string> {
  const syntax = await loaders[syntaxName]();
  const before = parse(syntax, text);
  const found = valueAt(before, path);
  if (fields === undefined ? found === undefined : isContained(fields, found)) return text;
  const after = attempt(() =>
    fields === undefined ? syntax.remove(text, path) : syntax.set(text, path, fields),
  );
  const expected = parse(syntax, text);
  const made = attempt(() => syntax.parse(after));
  if (fields !== undefined) mergeAt(expected, path, fields);
  else if (valueAt(made, path) === undefined)
    // Mappings above that contain nothing but comments stay.
    for (const value of [expected, made]) deleteAt(value, path);
  if (!isDeepStrictEqual(made, expected))
    throw new Unchangeable("it cannot be changed without a change of something else");
  return after;
}

/** Returns the entry at `path`, or undefined if the text has none. Throws an `Unchangeable`. */
export async function entryIn(
  text: string,
  syntaxName: Client["syntax"],
  path: readonly string[],
): Promise<Mapping | undefined> {
  const found = valueAt(parse(await loaders[syntaxName](), text), path);
  return isMapping(found) ? found : undefined;
}

const parse = (syntax: Syntax, text: string): Mapping => attempt(() => syntax.parse(text));

function attempt<Result>(work: () => Result): Result {
  try {
    return work();
  } catch (error) {
    if (error instanceof Unchangeable) throw error;
    throw new Unchangeable((error as Error).message.split("\n", 1)[0]);
  }
}

const isContained = (fields: Readonly<Mapping>, found: unknown): boolean =>
  isMapping(found) && Object.entries(fields).every(([key, value]) => isDeepStrictEqual(found[key], value));

function valueAt(value: unknown, path: readonly string[]): unknown {
  return path.reduce<unknown>(
    (above, key) => (isMapping(above) && Object.hasOwn(above, key) ? above[key] : undefined),
    value,
  );
}
