import type { Tool } from "@modelcontextprotocol/server";
import type { TSchema } from "@sinclair/typebox";
import { type JsonValue, renderSchema } from "../../base/schema/json-schema.ts";

type JsonObject = { readonly [key: string]: JsonValue };

/**
 * Returns a schema of the registry in a form that all clients understand: without formats, which name
 * integers of Rust and make validators complain, without versions, and with one type at each place, because
 * some clients pass a schema to a model whose dialect has no lists of types.
 */
export const portableSchema = (schema: TSchema) => simplify(renderSchema(schema)) as Tool["inputSchema"];

function simplify(value: JsonValue): JsonValue {
  if (Array.isArray(value)) return value.map(simplify);
  if (typeof value !== "object" || value === null) return value;
  const fields = Object.entries(value as JsonObject)
    .filter(([key, inner]) => !(["format", "x-since"].includes(key) && typeof inner === "string"))
    .map(([key, inner]) => [key, simplify(inner)]);
  return splitTypes(Object.fromEntries(fields));
}

/** Keeps the description and default at the field, and moves the constraints to each type. */
function splitTypes(schema: JsonObject): JsonObject {
  const { type, description, default: byDefault, ...rest } = schema;
  if (!Array.isArray(type)) return schema;
  return {
    ...(description !== undefined && { description }),
    ...(byDefault !== undefined && { default: byDefault }),
    anyOf: type.map((one: JsonValue) => (one === "null" ? { type: one } : { type: one, ...rest })),
  };
}
