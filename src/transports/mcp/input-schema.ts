/**
 * The schema of a tool's arguments. A model reads it on every turn, so each byte counts: it shows the
 * accepted fields, and leaves to the worker everything that the worker checks anyway.
 */
import type { Tool } from "@modelcontextprotocol/server";
import { type JsonValue, renderSchema } from "../../base/schema/json-schema.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { fsScopeField } from "../../calls/contract/fs-scope.ts";

type JsonObject = { readonly [key: string]: JsonValue };

/** The forms of requests that are accepted without appearing in the schemas. */
export interface AcceptedRequests {
  /** Whether one entry of a list may be sent without the list, if a function supports that. */
  readonly takesFlatEnvelopes: boolean;
  /** Whether requests are read as their callers mean them (`readPayload`). */
  readonly isForgiving: boolean;
  /** Whether rare fields are listed; the worker takes them in any case. */
  readonly listsRareFields: boolean;
}

interface Compaction {
  readonly definitions: JsonObject;
  /** Whether the tool's own description explains the fields that the function has always had. */
  readonly isBriefed: boolean;
  /**
   * Whether a map of texts may be sent as a list. A schema names the fields of each object, which it cannot
   * do for a map.
   */
  readonly takesListedMaps: boolean;
}

/**
 * Returns the request of `definition` without bounds, formats, titles, versions and defaults, which differ
 * between profiles, and with one type at each place: no `null` beside it, no alternatives of objects, and no
 * references. Each of these is missing in some JSON Schema dialect that models are given. A request without
 * fields says so, because converters take an object that names none for one that permits all.
 */
export function inputSchema(
  definition: FunctionDefinition,
  { takesFlatEnvelopes, isForgiving, listsRareFields }: AcceptedRequests,
): Tool["inputSchema"] {
  const { request, brief, hasFlatEnvelope = false, busFields = [] } = definition;
  const { definitions = {}, ...schema } = renderSchema(request, { leavesOutRare: !listsRareFields });
  const compaction = {
    definitions: definitions as JsonObject,
    isBriefed: brief !== undefined,
    takesListedMaps: isForgiving,
  };
  const hidden = [fsScopeField, ...busFields];
  const properties = Object.fromEntries(
    Object.entries((schema as Shape).properties).filter(([name]) => !hidden.includes(name)),
  );
  if (Object.keys(properties).length === 0)
    return { type: "object", properties: {}, additionalProperties: false };
  const whole = compact({ ...schema, properties }, compaction) as Shape;
  return (takesFlatEnvelopes && hasFlatEnvelope ? flatten(whole) : whole) as Tool["inputSchema"];
}

/**
 * Puts the fields of one entry first, because most calls have one. `files` takes several entries with the
 * same fields.
 */
function flatten({ properties: { files, ...others } }: Shape): JsonObject {
  const entry = files?.["items"] as Shape;
  const many = { description: "For several, in place of these.", type: "array", items: entry };
  return { type: "object", properties: { ...entry.properties, files: many, ...others } };
}

function compact(schema: JsonObject, compaction: Compaction): JsonObject {
  const { $ref: reference, oneOf, anyOf, allOf, ...own } = schema;
  if (typeof reference === "string") return compact(definitionOf(reference, compaction), compaction);
  if (Array.isArray(oneOf)) return { ...annotate(own, compaction), ...merge(oneOf, compaction) };
  const [only] = [anyOf, allOf].flatMap((list) => (Array.isArray(list) ? (list as JsonObject[]) : []));
  if (only !== undefined) return { ...compact(only, compaction), ...annotate(own, compaction) };
  return { ...annotate(own, compaction), ...compactType(own, inside(own, compaction)) };
}

const definitionOf = (reference: string, { definitions }: Compaction): JsonObject =>
  definitions[reference.slice("#/definitions/".length)] as JsonObject;

/**
 * Returns the compaction inside a field. A field that was added later describes itself and everything in it.
 */
const inside = (schema: JsonObject, compaction: Compaction): Compaction =>
  "x-since" in schema ? { ...compaction, isBriefed: false } : compaction;

function annotate(schema: JsonObject, compaction: Compaction): JsonObject {
  const { description } = schema;
  const { isBriefed } = inside(schema, compaction);
  return description !== undefined && !isBriefed ? { description } : {};
}

/** The schema of a map of texts in the list form that `readPayload` accepts. */
const listedMap: JsonObject = {
  type: "array",
  items: {
    type: "object",
    properties: { key: { type: "string" }, value: { type: "string" } },
    required: ["key", "value"],
  },
};

function compactType(
  { type, enum: values, items, properties, required, additionalProperties }: JsonObject,
  compaction: Compaction,
): JsonObject {
  const isMap = typeof additionalProperties === "object" && additionalProperties !== null;
  if (isMap && compaction.takesListedMaps) return listedMap;
  const [first] = Array.isArray(type) ? type : [type];
  return {
    ...(first !== undefined && { type: first }),
    ...(values !== undefined && { enum: values }),
    ...(items !== undefined && { items: compact(items as JsonObject, compaction) }),
    ...(properties !== undefined && { properties: compactAll(properties as JsonObject, compaction) }),
    ...(required !== undefined && { required }),
  };
}

const compactAll = (properties: JsonObject, compaction: Compaction): JsonObject =>
  Object.fromEntries(
    Object.entries(properties).map(([name, property]) => [name, compact(property as JsonObject, compaction)]),
  );

/**
 * Merges alternatives of objects into one object. The tag, which differs between them, has all values with
 * their purposes. Another field is required if all alternatives require it.
 */
function merge(alternatives: readonly JsonValue[], compaction: Compaction): JsonObject {
  const objects = (alternatives as readonly JsonObject[]).map((one) => compact(one, compaction) as Shape);
  const required = objects.map((one) => one.required ?? []);
  const others = Object.assign({}, ...objects.map(({ properties }) => properties)) as JsonObject;
  return {
    type: "object",
    properties: { ...others, ...mergeTags(objects) },
    required: required.reduce((all, one) => all.filter((name) => one.includes(name))),
  };
}

/** A compact schema of objects. */
type Shape = JsonObject & {
  readonly description?: string;
  readonly properties: Readonly<Record<string, JsonObject & { readonly enum?: readonly string[] }>>;
  readonly required?: readonly string[];
};

function mergeTags(objects: readonly Shape[]): JsonObject {
  const tags = Object.entries(objects[0]?.properties ?? {}).filter(
    ([, { enum: values }]) => values?.length === 1,
  );
  return Object.fromEntries(tags.map(([name]) => [name, mergeTag(name, objects)]));
}

function mergeTag(name: string, objects: readonly Shape[]): JsonObject {
  const tagOf = (one: Shape) => one.properties[name]?.enum?.[0] ?? "";
  const described = objects.filter(({ description }) => description !== undefined);
  const description = described.map((one) => `${tagOf(one)}: ${one.description}`).join(" ");
  return {
    ...(description !== "" && { description }),
    type: "string",
    enum: objects.map(tagOf),
  };
}
