import type {
  FunctionDefinition,
  OtherPaths,
  PathAccess,
  RequestPath,
} from "../../src/calls/contract/definition.ts";

export type { OtherPaths };

/** A path in the calls of a function, by its definition. */
export interface PathArgument {
  readonly id: string;
  /** A unique name among all path arguments: `coder::read-file /path read`. */
  readonly name: string;
  readonly access: PathAccess;
  readonly effect: FunctionDefinition["effect"];
  /** Whether a call has another path too, one of `OtherPaths`. */
  readonly hasOtherPaths: boolean;
  payload(path: string, others?: OtherPaths): Readonly<Record<string, unknown>>;
}

/** The paths in `commonTree` for calls with two paths. */
export const defaultOtherPaths: OtherPaths = { there: "other.txt", free: "moved-here" };

/** The fields that replace those of an example, by function. */
type Overrides = Readonly<Record<string, Readonly<Record<string, unknown>>>>;

/**
 * Returns all path arguments of `functions`. A payload is the first example that has the path, with one item
 * in each array on the way to it.
 */
export const pathArgumentsOf = (
  functions: readonly FunctionDefinition[],
  overrides: Overrides,
): PathArgument[] =>
  functions.flatMap((definition) =>
    definition.paths.map((path) => pathArgumentOf(definition, path, overrides)),
  );

function pathArgumentOf(
  definition: FunctionDefinition,
  path: RequestPath,
  overrides: Overrides,
): PathArgument {
  const { id, effect, paths, examples } = definition;
  const { at, access, part, when } = path;
  const places = examples.map(({ request }) => placeIn(structuredClone(request), at));
  const found = examples.findIndex(({ request }) => valueAt(request, at) !== undefined);
  const example = examples[found < 0 ? places.findIndex((place) => place !== undefined) : found];
  if (example === undefined) throw new Error(`no example of ${id} has ${at}`);
  return {
    id,
    name: [id, at, part ?? [], access].flat().join(" "),
    access,
    effect,
    hasOtherPaths:
      (path.render?.length ?? 0) > 1 ||
      paths.some((other) => other.at !== at && isSent(other, valueAt(example.request, other.at))),
    payload(value, others = defaultOtherPaths) {
      const payload: Node = structuredClone(example.request) as Node;
      for (const other of paths) {
        if (other.at === at || other.render !== undefined) continue;
        const place = placeIn(payload, other.at);
        if (place?.holder[place.key] !== undefined)
          place.holder[place.key] = others[makes.has(other.access) ? "free" : "there"];
      }
      const { holder, key, fields } = placeIn(payload, at)!;
      Object.assign(fields, overrides[id], when);
      holder[key] = path.render?.(value, others) ?? value;
      return payload;
    },
  };
}

/** Returns whether an example sends a path there that the call of another argument also needs. */
const isSent = ({ render }: RequestPath, value: unknown): boolean =>
  render === undefined && value !== undefined;

const makes: ReadonlySet<PathAccess> = new Set(["create", "replace"]);

type Node = Record<string, unknown>;

interface Place {
  /** The object or array with the path, its key there, and the object with the fields beside it. */
  readonly holder: Node;
  readonly key: string;
  readonly fields: Node;
}

function valueAt(request: object, at: string): unknown {
  const place = placeIn(structuredClone(request), at);
  return place?.holder[place.key];
}

/**
 * Returns the place that a pointer leads to, or `undefined` if nothing can hold it. Arrays on the way are cut
 * to one item.
 */
function placeIn(request: object, at: string): Place | undefined {
  const keys = at.slice(1).split("/");
  const last = keys.pop()!;
  let holder = request as Node;
  let fields = holder;
  for (const key of keys) {
    const next = holder[key === "*" ? "0" : key];
    if (typeof next !== "object" || next === null) return undefined;
    if (Array.isArray(next)) next.length = Math.min(1, next.length);
    else fields = next as Node;
    holder = next as Node;
  }
  if (Array.isArray(holder)) holder.length = Math.min(1, holder.length);
  return { holder, key: last === "*" ? "0" : last, fields };
}
