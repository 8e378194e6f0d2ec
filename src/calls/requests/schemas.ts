/** Reads schemas of requests: their kinds, alternatives and lists. */
import { Kind, OptionalKind, type TArray, type TObject, type TSchema, type TUnion } from "@sinclair/typebox";
import { fsScopeField } from "../contract/fs-scope.ts";
import { whenLeftOut } from "./synonyms.ts";

export const isObject = (schema: TSchema): schema is TObject => schema[Kind] === "Object";
export const isArray = (schema: TSchema): schema is TArray => schema[Kind] === "Array";
export const isMap = (schema: TSchema): boolean => schema[Kind] === "Record";
const isUnion = (schema: TSchema): schema is TUnion => schema[Kind] === "Union";

/** Returns whether a value is an object with keys, neither null nor an array. */
export const hasFields = (value: unknown): value is Readonly<Record<string, unknown>> =>
  typeof value === "object" && value !== null && !Array.isArray(value);

/** Alternatives of objects, distinguished by a field, the tag, with a different literal in each. */
export interface Tagged {
  readonly tag: string;
  readonly variants: readonly TObject[];
}

export function taggedOf(schema: TSchema): Tagged | undefined {
  if (!isUnion(schema) || !schema.anyOf.every(isObject)) return undefined;
  const variants = schema.anyOf as unknown as readonly TObject[];
  const tag = Object.entries(variants[0]!.properties).find(([, field]) => field[Kind] === "Literal")?.[0];
  return tag === undefined ? undefined : { tag, variants };
}

/** Returns the literal of a variant. */
export const tagValue = (variant: TObject, tag: string): string =>
  variant.properties[tag]?.["const"] as string;

/** Returns the literal of an alternative with its name, such as `"op": "insert"`. */
export function literalTagOf({ properties }: TObject): string | undefined {
  const [tag, field] = Object.entries(properties).find(([, one]) => one[Kind] === "Literal") ?? [];
  return field && `"${tag}": "${field["const"]}"`;
}

/** Returns the literals of a schema that is a choice of them. */
export function literalsOf(schema: TSchema): readonly string[] | undefined {
  const kinds = isUnion(schema) ? schema.anyOf : [schema];
  const literals = kinds.filter((kind) => kind[Kind] === "Literal").map((kind) => kind["const"] as string);
  return literals.length > 0 ? literals : undefined;
}

export const takesNull = (schema: TSchema): boolean =>
  schema[Kind] === "Null" || (isUnion(schema) && schema.anyOf.some(takesNull));

/** Returns the schema without null as an alternative. */
export function withoutNull(schema: TSchema): TSchema {
  if (!isUnion(schema)) return schema;
  const others = schema.anyOf.filter((one) => one[Kind] !== "Null");
  return others.length === 1 ? others[0]! : schema;
}

/** Returns the alternative for an object in a choice of an object and other types, or the schema itself. */
export function alternativeFor(schema: TSchema, value: unknown): TSchema {
  if (!isUnion(schema) || !hasFields(value)) return schema;
  const objects = schema.anyOf.filter(isObject);
  return objects.length === 1 ? objects[0]! : schema;
}

export const isOptional = (schema: TSchema): boolean =>
  schema[OptionalKind] === "Optional" || "default" in schema;

/** Returns whether a call may leave the field out. */
export const mayBeLeftOut = (name: string, schema: TSchema): boolean =>
  isOptional(schema) || Object.hasOwn(whenLeftOut, name);

/**
 * A required field that is a list of objects. A caller with a single one may send its fields instead of the
 * list.
 */
export interface EntryList {
  readonly name: string;
  readonly items: TSchema;
}

/** The entry lists of schemas, since each call needs those of its request. */
const entryLists = new WeakMap<TObject, EntryList | "none">();

export function entryListOf(schema: TObject): EntryList | undefined {
  let list = entryLists.get(schema);
  if (list === undefined) {
    list = findEntryList(schema) ?? "none";
    entryLists.set(schema, list);
  }
  return list === "none" ? undefined : list;
}

function findEntryList({ properties }: TObject): EntryList | undefined {
  for (const [name, schema] of Object.entries(properties)) {
    if (!isArray(schema) || isOptional(schema)) continue;
    if (isObject(schema.items) || taggedOf(schema.items) !== undefined) return { name, items: schema.items };
  }
  return undefined;
}

/** Returns the alternatives that an object of this schema may be. */
export const objectsOf = (schema: TSchema): readonly TObject[] =>
  isObject(schema) ? [schema] : (taggedOf(schema)?.variants ?? []);

/** Returns the names of the fields that callers are shown. */
export const shownFields = ({ properties }: TObject): string[] =>
  Object.keys(properties).filter((name) => name !== fsScopeField);

/** Returns the names of the fields that tools show unless `--tools all` is given. */
export const commonFields = (schema: TObject): string[] =>
  shownFields(schema).filter((name) => !("isRare" in schema.properties[name]!));
