/** The parts that all syntaxes of configurations need. */
/** The value of a configuration, or of a part of it. */
export type Mapping = Record<string, unknown>;

/** A syntax of configurations, whose edits keep comments, order and line ends. */
export interface Syntax {
  /** Parses a text. Throws an Error with the reason, and the line if known, if a client could not read it. */
  parse(text: string): Mapping;
  /** Sets `fields` of the mapping at `path`, and creates the mappings above it. */
  set(text: string, path: readonly string[], fields: Readonly<Mapping>): string;
  /** Removes the entry at `path`, and the mappings above that are empty then. */
  remove(text: string, path: readonly string[]): string;
}

/** The reason why a file cannot be changed. */
export class Unchangeable extends Error {
  override readonly name = "Unchangeable";
}

export const isMapping = (value: unknown): value is Mapping =>
  typeof value === "object" &&
  value !== null &&
  [Object.prototype, null].includes(Object.getPrototypeOf(value));

/** Sets `fields` in a value. Throws an `Unchangeable` if something other than a mapping is on the path. */
export function mergeAt(value: Mapping, path: readonly string[], fields: Readonly<Mapping>): void {
  let above = value;
  for (const [depth, key] of path.entries()) {
    const next = Object.hasOwn(above, key) ? above[key] : undefined;
    if (next !== undefined && !isMapping(next))
      throw new Unchangeable(`${path.slice(0, depth + 1).join(".")} in it is not a mapping`);
    const mapping = next ?? {};
    define(above, key, mapping);
    above = mapping;
  }
  for (const [key, field] of Object.entries(fields)) define(above, key, field);
}

export function deleteAt(value: Mapping, path: readonly string[]): void {
  const [key = "", ...rest] = path;
  const inner = value[key];
  if (rest.length > 0 && isMapping(inner)) deleteAt(inner, rest);
  if (rest.length === 0 || (isMapping(inner) && Object.keys(inner).length === 0)) delete value[key];
}

/** Defines a property, even one whose name has a setter in the prototype. */
const define = (mapping: Mapping, key: string, value: unknown) =>
  Object.defineProperty(mapping, key, { value, enumerable: true, writable: true, configurable: true });

/** Returns the value with ordinary objects: those of the parsers have no prototype. */
export function withPrototypes(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(withPrototypes);
  if (!isMapping(value)) return value;
  const copy: Mapping = {};
  for (const [key, inner] of Object.entries(value)) define(copy, key, withPrototypes(inner));
  return copy;
}
