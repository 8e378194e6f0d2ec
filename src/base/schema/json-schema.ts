/**
 * Renders a schema as JSON Schema draft-07 in the form of the registry (bus §9): named types under
 * `definitions`, an optional value as a `null` alternative, a tag as a one-value `enum`.
 */
import { Kind, OptionalKind, type TObject, type TRecord, type TSchema, type TUnion } from "@sinclair/typebox";

export type JsonValue =
  | null
  | boolean
  | number
  | string
  | readonly JsonValue[]
  | { readonly [key: string]: JsonValue };
type JsonObject = { [key: string]: JsonValue };

interface Rendering {
  readonly definitions: JsonObject;
  /**
   * Whether to leave out everything newer than the published reference: fields and alternatives with `since`,
   * and that a field with `optionalSince` may be absent.
   */
  readonly isPublished: boolean;
  /** Whether to leave out the fields with `isRare`. */
  readonly leavesOutRare: boolean;
}

/** Renders one schema with its `definitions`, as registered on the bus. */
export function renderSchema(
  schema: TSchema,
  { isPublished = false, leavesOutRare = false } = {},
): JsonObject {
  const definitions: JsonObject = {};
  const root = renderBody(schema, { definitions, isPublished, leavesOutRare });
  return {
    $schema: "http://json-schema.org/draft-07/schema#",
    ...root,
    ...(Object.keys(definitions).length > 0 && { definitions }),
  };
}

/** Renders a schema at its place. A named one becomes a definition and a reference to it. */
function render(schema: TSchema, rendering: Rendering): JsonObject {
  if (schema[Kind] === "This") return { $ref: `#/definitions/${schema["$ref"]}` };
  const name = schema.$id;
  if (name === undefined) return renderBody(schema, rendering);
  const { definitions } = rendering;
  // With a default, the annotations belong to this place, not to the type.
  const { default: byDefault, description, ...type } = schema;
  const isAnnotated = byDefault !== undefined;
  if (!(name in definitions)) {
    definitions[name] = {};
    definitions[name] = renderBody(isAnnotated ? (type as TSchema) : schema, rendering);
  }
  const reference = { $ref: `#/definitions/${name}` };
  return isAnnotated ? { ...annotations(schema), allOf: [reference] } : reference;
}

function renderBody(schema: TSchema, rendering: Rendering): JsonObject {
  switch (schema[Kind]) {
    case "Object":
      return { ...annotations(schema), ...renderObject(schema as TObject, rendering) };
    case "Array":
      return { ...annotations(schema), type: "array", items: render(schema["items"], rendering) };
    case "Union":
      return { ...annotations(schema), ...renderUnion(schema as TUnion, rendering) };
    case "Record": {
      const [items] = Object.values((schema as TRecord).patternProperties);
      return { ...annotations(schema), type: "object", additionalProperties: render(items!, rendering) };
    }
    case "Unknown":
      return annotations(schema);
    case "Literal":
      return { ...annotations(schema), type: typeof schema["const"], enum: [schema["const"]] };
    default:
      return { ...annotations(schema), type: schema["type"] };
  }
}

const shownAnnotations = ["title", "description", "default", "format", "minimum", "maximum", "maxLength"];

function annotations(schema: TSchema): JsonObject {
  return {
    ...Object.fromEntries(shownAnnotations.filter((key) => key in schema).map((key) => [key, schema[key]])),
    ...("since" in schema && { "x-since": schema["since"] }),
  };
}

function renderObject(schema: TObject, rendering: Rendering): JsonObject {
  const properties = Object.entries(schema.properties).filter(
    ([, property]) =>
      !(rendering.isPublished && "since" in property) && !(rendering.leavesOutRare && "isRare" in property),
  );
  const required = properties
    .filter(([, property]) => isRequired(property, rendering))
    .map(([name]) => name)
    .sort();
  return {
    type: "object",
    properties: Object.fromEntries(properties.map(([name, property]) => [name, render(property, rendering)])),
    ...(required.length > 0 && { required }),
  };
}

function isRequired(property: TSchema, { isPublished }: Rendering): boolean {
  if (isPublished && "optionalSince" in property) return true;
  return !("default" in property) && property[OptionalKind] !== "Optional";
}

function renderUnion(schema: TUnion, rendering: Rendering): JsonObject {
  const variants = schema.anyOf.filter((variant) => !(rendering.isPublished && "since" in variant));
  if (variants.every((variant) => variant[Kind] === "Literal")) {
    return { type: "string", enum: variants.map((variant) => variant["const"]) };
  }
  if (variants.at(-1)?.[Kind] !== "Null")
    return { oneOf: variants.map((variant) => render(variant, rendering)) };
  const value = render(variants[0] as TSchema, rendering);
  if ("$ref" in value) return { anyOf: [value, { type: "null" }] };
  return { ...value, type: [value["type"] as JsonValue, "null"] };
}

/** Returns a copy with the keys in alphabetical order at every level. */
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
