/**
 * The published API reference, from the list of functions: JSON Schema draft-07 in the form that the registry
 * shows (bus §9). Named types stand under `definitions`, an optional value is a `null`
 * alternative, a tag is a one-value `enum`, keys are in alphabetical order.
 */
import { Kind, OptionalKind, type TObject, type TSchema, type TUnion } from "@sinclair/typebox";
import type { FunctionDefinition } from "../worker/define.ts";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
type JsonObject = { [key: string]: JsonValue };

/** The whole reference: what `--print-schema` prints. */
export function renderReference(functions: readonly FunctionDefinition[]): JsonValue {
  return sortKeys({
    functions: functions.map(({ id, description, request, published, response }) => ({
      name: id,
      description,
      metadata: {},
      request_schema: renderSchema(published ?? request),
      response_schema: renderSchema(response),
    })),
    triggers: [],
  });
}

/** One schema with its `definitions`, as registered on the bus. */
export function renderSchema(schema: TSchema): JsonObject {
  const definitions: JsonObject = {};
  const root = renderBody(schema, definitions);
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...root,
    ...(Object.keys(definitions).length > 0 && { definitions }),
  };
}

/** A schema where it is used: a named one becomes a definition and a reference to it. */
function render(schema: TSchema, definitions: JsonObject): JsonObject {
  if (schema[Kind] === "This") return { $ref: `#/definitions/${schema["$ref"]}` };
  const name = schema.$id;
  if (name === undefined) return renderBody(schema, definitions);
  // With a default, the annotations are those of the place where the type is used, not of the type.
  const { default: byDefault, description, ...type } = schema;
  const isAnnotated = byDefault !== undefined;
  if (!(name in definitions)) {
    definitions[name] = {};
    definitions[name] = renderBody(isAnnotated ? (type as TSchema) : schema, definitions);
  }
  const reference = { $ref: `#/definitions/${name}` };
  return isAnnotated ? { ...annotations(schema), allOf: [reference] } : reference;
}

function renderBody(schema: TSchema, definitions: JsonObject): JsonObject {
  switch (schema[Kind]) {
    case "Object":
      return { ...annotations(schema), ...renderObject(schema as TObject, definitions) };
    case "Array":
      return { ...annotations(schema), type: "array", items: render(schema["items"], definitions) };
    case "Union":
      return { ...annotations(schema), ...renderUnion(schema as TUnion, definitions) };
    case "Unknown":
      return annotations(schema);
    case "Literal":
      return { ...annotations(schema), type: "string", enum: [schema["const"]] };
    default:
      return { ...annotations(schema), type: schema["type"] };
  }
}

const shownAnnotations = ["title", "description", "default", "format", "minimum", "maximum"];

function annotations(schema: TSchema): JsonObject {
  return Object.fromEntries(shownAnnotations.filter((key) => key in schema).map((key) => [key, schema[key]]));
}

function renderObject(schema: TObject, definitions: JsonObject): JsonObject {
  const properties = Object.entries(schema.properties);
  const required = properties
    .filter(([, property]) => !("default" in property) && property[OptionalKind] !== "Optional")
    .map(([name]) => name)
    .sort();
  return {
    type: "object",
    properties: Object.fromEntries(
      properties.map(([name, property]) => [name, render(property, definitions)]),
    ),
    ...(required.length > 0 && { required }),
  };
}

function renderUnion(schema: TUnion, definitions: JsonObject): JsonObject {
  const variants = schema.anyOf;
  if (variants.every((variant) => variant[Kind] === "Literal")) {
    return { type: "string", enum: variants.map((variant) => variant["const"]) };
  }
  if (variants.at(-1)?.[Kind] !== "Null")
    return { oneOf: variants.map((variant) => render(variant, definitions)) };
  const value = render(variants[0] as TSchema, definitions);
  if ("$ref" in value) return { anyOf: [value, { type: "null" }] };
  return { ...value, type: [value["type"] as JsonValue, "null"] };
}

/** Keys in alphabetical order at every level. */
export function sortKeys(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(sortKeys);
  if (typeof value !== "object" || value === null) return value;
  const fields = value as { readonly [key: string]: JsonValue };
  return Object.fromEntries(
    Object.keys(fields)
      .sort()
      .map((key) => [key, sortKeys(fields[key] as JsonValue)]),
  );
}
