/**
 * Validates a value from outside against a TypeBox schema. The result holds exactly the fields of the schema,
 * in fresh objects with defaults; a `Mismatch` names the wrong field and what was expected.
 *
 * Property tests compare it with TypeBox's own checker, which lacks three things: a sentence that a model can
 * act on (also inside tagged unions), defaults and check in one pass, and safety from foreign keys
 * (`__proto__` in a payload must not become a prototype).
 */
import {
  Kind,
  OptionalKind,
  type Static,
  type TArray,
  type TObject,
  type TRecord,
  type TSchema,
  type TUnion,
} from "@sinclair/typebox";
import { runAtOnce, type Steps } from "../scheduling/time-slice.ts";
import { maxSimilar } from "../similar-name.ts";

/** Thrown for the first field that does not fit its schema. */
export class Mismatch extends Error {
  override readonly name = "Mismatch";
  /** The path of the field, such as `files[0].ops[2].at_line`; empty for the value itself. */
  readonly field: string;
  /** The problem and the expected value, without the field: `is missing; expected a string`. */
  readonly problem: string;
  /** The schema of the field, and the value that does not fit it; absent if no single value is at fault. */
  readonly fault: Fault | undefined;

  constructor(field: string, problem: string, fault?: Fault) {
    super(`${field === "" ? "the value" : field} ${problem}`);
    this.field = field;
    this.problem = problem;
    this.fault = fault;
  }
}

interface Fault {
  readonly schema: TSchema;
  readonly value: unknown;
}

export interface ValidateOptions {
  /**
   * The treatment of keys that the schema does not name. A request may have them, since the engine adds one.
   * A configuration may not.
   */
  readonly unknownKeys: "ignore" | "refuse";
}

/** Returns `value` as `schema` describes it. Throws a `Mismatch`. */
export function validate<T extends TSchema>(schema: T, value: unknown, options: ValidateOptions): Static<T> {
  return runAtOnce(check(schema, value, "", options)) as Static<T>;
}

/** Like `validate`, in steps, so that validating very many values keeps no other call waiting. */
export function validateInSteps<T extends TSchema>(
  schema: T,
  value: unknown,
  options: ValidateOptions,
): Steps<Static<T>> {
  return check(schema, value, "", options) as Steps<Static<T>>;
}

/** Items of a list or a map that are validated in one step. */
const atOnce = 64;

/** The kinds of schemas that contain others. */
const composites: ReadonlySet<unknown> = new Set(["Object", "Array", "Union", "Record"]);

function* check(schema: TSchema, value: unknown, field: string, options: ValidateOptions): Steps<unknown> {
  switch (schema[Kind]) {
    case "Object":
      return yield* checkObject(schema as TObject, value, field, options);
    case "Array":
      return yield* checkArray(schema as TArray, value, field, options);
    case "Union":
      return yield* checkUnion(schema as TUnion, value, field, options);
    case "Record":
      return yield* checkRecord(schema as TRecord, value, field, options);
    default:
      return checkScalar(schema, value, field);
  }
}

function checkScalar(schema: TSchema, value: unknown, field: string): unknown {
  switch (schema[Kind]) {
    case "String":
      return checkString(schema, value, field);
    case "Integer":
      return checkInteger(schema, value, field);
    case "Boolean":
      return typeof value === "boolean" ? value : fail(schema, value, field);
    case "Literal":
      return value === schema["const"] ? value : fail(schema, value, field);
    case "Null":
      return value === null ? value : fail(schema, value, field);
    case "Unknown":
      return value;
    default:
      throw new Error(`validate does not know the schema kind ${String(schema[Kind])}`);
  }
}

function* checkObject(
  schema: TObject,
  value: unknown,
  field: string,
  options: ValidateOptions,
): Steps<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(schema, value, field);
  const given = value as Record<string, unknown>;
  if (options.unknownKeys === "refuse") refuseUnknownKeys(schema, given, field);
  const result: Record<string, unknown> = {};
  const { properties } = schema;
  for (const name in properties) {
    const property = properties[name]!;
    if (Object.hasOwn(given, name) && !isOmitted(property, given[name])) {
      const item = given[name];
      const place = pathOf(field, name);
      // A generator for each scalar would take most of the time of a small request.
      result[name] = composites.has(property[Kind])
        ? yield* check(property, item, place, options)
        : checkScalar(property, item, place);
    } else if (property.default !== undefined) result[name] = copyOf(property.default);
    else if (property[OptionalKind] !== "Optional")
      throw new Mismatch(pathOf(field, name), `is missing; expected ${expected(property)}`, {
        schema: property,
        value: undefined,
      });
  }
  return result;
}

const pathOf = (field: string, name: string): string => (field === "" ? name : `${field}.${name}`);

/**
 * Copies a default. Nearly all are primitives or empty arrays, and `structuredClone` takes many times as long
 * as the rest of a field.
 */
function copyOf(value: unknown): unknown {
  if (typeof value !== "object" || value === null) return value;
  return Array.isArray(value) && value.length === 0 ? [] : structuredClone(value);
}

/**
 * Returns whether null means absent: models send it for fields that they leave out. Published fields stay as
 * strict as published.
 */
const isOmitted = (property: TSchema, value: unknown): boolean =>
  value === null && "since" in property && !acceptsNull(property);

const acceptsNull = (property: TSchema): boolean =>
  property[Kind] === "Union" && property["anyOf"].some((variant: TSchema) => variant[Kind] === "Null");

function refuseUnknownKeys(schema: TObject, given: Record<string, unknown>, field: string): void {
  const [first, ...others] = Object.keys(given).filter((key) => !Object.hasOwn(schema.properties, key));
  if (first === undefined) return;
  const keys = Object.keys(schema.properties);
  const meant = maxSimilar(first, keys);
  const named = others.slice(0, maxUnknownNamed).map((key) => pathOf(field, key));
  const more = others.length > named.length ? ` and ${others.length - named.length} more` : "";
  const also = named.length === 0 ? "" : `, and neither is ${named.join(", ")}${more}`;
  throw new Mismatch(
    pathOf(field, first),
    `is not a known key${also}; ${meant === undefined ? "the" : `did you mean ${meant}? The`} keys are ${keys.join(", ")}`,
  );
}

/** Maximum further unknown keys that an error names. */
const maxUnknownNamed = 4;

function* checkArray(
  schema: TArray,
  value: unknown,
  field: string,
  options: ValidateOptions,
): Steps<unknown> {
  if (!Array.isArray(value)) return fail(schema, value, field);
  const result: unknown[] = [];
  for (const [index, item] of value.entries()) {
    result.push(yield* check(schema.items, item, `${field}[${index}]`, options));
    if (result.length % atOnce === 0) yield;
  }
  return result;
}

/** Validates a record, whose keys may have any name, so that the result must not have a prototype. */
function* checkRecord(
  schema: TRecord,
  value: unknown,
  field: string,
  options: ValidateOptions,
): Steps<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(schema, value, field);
  const result = Object.create(null) as Record<string, unknown>;
  let count = 0;
  for (const [key, item] of Object.entries(value)) {
    result[key] = yield* check(itemOf(schema), item, `${field}[${JSON.stringify(key)}]`, options);
    if (++count % atOnce === 0) yield;
  }
  return result;
}

const itemOf = (schema: TRecord): TSchema => Object.values(schema.patternProperties)[0]!;

function* checkUnion(
  schema: TUnion,
  value: unknown,
  field: string,
  options: ValidateOptions,
): Steps<unknown> {
  const tag = tagOf(schema);
  if (tag !== undefined) return yield* checkTagged(schema, tag, value, { field, options });
  for (const variant of schema.anyOf) {
    if (variant[Kind] === "Null" ? value === null : variant[Kind] === "Literal" && value === variant["const"])
      return value;
  }
  const open = schema.anyOf.find(
    (variant) => variant[Kind] !== "Null" && variant[Kind] !== "Literal" && !mistyped(variant, value),
  );
  if (open === undefined) return fail(schema, value, field);
  return yield* check(open, value, field, options);
}

/**
 * Returns whether `value` has a JSON type different from that of `schema`, so that the sentence must name
 * every alternative.
 */
function mistyped(schema: TSchema, value: unknown): boolean {
  const type = schema["type"] === "integer" ? "number" : schema["type"];
  return type !== (Array.isArray(value) ? "array" : typeof value);
}

/** Returns the discriminator of a union of objects: the field whose literal differs in each variant. */
function tagOf(schema: TUnion): string | undefined {
  const first = schema.anyOf[0];
  if (first?.[Kind] !== "Object") return undefined;
  return Object.entries((first as TObject).properties).find(
    ([, property]) => property[Kind] === "Literal",
  )?.[0];
}

function* checkTagged(
  schema: TUnion,
  tag: string,
  value: unknown,
  { field, options }: { field: string; options: ValidateOptions },
): Steps<unknown> {
  if (typeof value !== "object" || value === null || Array.isArray(value)) return fail(schema, value, field);
  const given = Object.hasOwn(value, tag) ? (value as Record<string, unknown>)[tag] : undefined;
  const variants = schema.anyOf as unknown as TObject[];
  const chosen = variants.find((variant) => variant.properties[tag]?.["const"] === given);
  if (chosen !== undefined) return yield* check(chosen, value, field, options);
  const tags = variants.map((variant) => JSON.stringify(variant.properties[tag]?.["const"])).join(", ");
  throw new Mismatch(
    `${field}.${tag}`,
    given === undefined
      ? `is missing; expected one of ${tags}`
      : `is ${shown(given)}; expected one of ${tags}`,
    { schema, value },
  );
}

function checkString(schema: TSchema, value: unknown, field: string): unknown {
  if (typeof value !== "string") return fail(schema, value, field);
  if (value.length < (schema["minLength"] ?? 0)) throw new Mismatch(field, "is empty; expected some text");
  const longest = schema["maxLength"] ?? Number.POSITIVE_INFINITY;
  if (value.length > longest)
    throw new Mismatch(field, `has ${value.length} characters; expected at most ${longest}`);
  if (!value.isWellFormed())
    throw new Mismatch(field, "holds half of a surrogate pair; expected well-formed Unicode text");
  return schema["format"] === "uuid" ? (parseUuid(value) ?? fail(schema, value, field)) : value;
}

/** Returns a UUID in lower case and with hyphens, from any form that Rust's crate `uuid` reads. */
function parseUuid(text: string): string | undefined {
  const bare = text.toLowerCase().replace(/^urn:uuid:/, "");
  const inner = /^\{(.*)\}$/.exec(bare)?.[1] ?? bare;
  const parts =
    /^([\da-f]{8})-([\da-f]{4})-([\da-f]{4})-([\da-f]{4})-([\da-f]{12})$/.exec(inner) ??
    /^([\da-f]{8})([\da-f]{4})([\da-f]{4})([\da-f]{4})([\da-f]{12})$/.exec(inner);
  return parts?.slice(1).join("-");
}

function checkInteger(schema: TSchema, value: unknown, field: string): unknown {
  const { least, most } = rangeOf(schema);
  if (!Number.isSafeInteger(value)) return fail(schema, value, field);
  return (value as number) >= least && (value as number) <= most ? value : fail(schema, value, field);
}

function rangeOf(schema: TSchema): { least: number; most: number } {
  return {
    least: schema["minimum"] ?? Number.MIN_SAFE_INTEGER,
    most: schema["maximum"] ?? (schema["format"] === "uint32" ? 0xffff_ffff : Number.MAX_SAFE_INTEGER),
  };
}

function fail(schema: TSchema, value: unknown, field: string): never {
  throw new Mismatch(field, `is ${shown(value)}; expected ${expected(schema)}`, { schema, value });
}

/** Returns the fields that every caller knows. */
const publishedFields = ({ properties }: TObject): string[] =>
  Object.keys(properties).filter((name) => !("since" in properties[name]!));

/** Describes `schema` in words: `a string`, `a whole number from 0 to 4294967295, or null`. */
function expected(schema: TSchema): string {
  switch (schema[Kind]) {
    case "Object": {
      const fields = publishedFields(schema as TObject);
      return fields.length === 0 ? "an object, such as {}" : `an object with ${fields.join(", ")}`;
    }
    case "Array":
      return "an array";
    case "Record":
      return `an object, each of its values ${expected(itemOf(schema as TRecord))}`;
    case "Union":
      return (schema as TUnion).anyOf.map(expected).join(" or ");
    case "Integer": {
      const { least, most } = rangeOf(schema);
      return `a whole number from ${least} to ${most}`;
    }
    case "Boolean":
      return "true or false";
    case "Literal":
      return JSON.stringify(schema["const"]);
    case "Null":
      return "null";
    default:
      return schema["format"] === "uuid" ? "a UUID" : "a string";
  }
}

/** Describes `value` in a short form that the caller recognizes. */
function shown(value: unknown): string {
  if (Array.isArray(value)) return "an array";
  if (typeof value === "object" && value !== null) return "an object";
  if (typeof value === "string")
    return `the string ${JSON.stringify(value.length > 60 ? `${value.slice(0, 60)}…` : value)}`;
  return value === undefined ? "missing" : `${String(value)}`;
}
