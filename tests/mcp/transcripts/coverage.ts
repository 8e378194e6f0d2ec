/**
 * Names the parts of the tools that the jobs must use: each function, and all fields and values that came
 * later than the published ones.
 */
import type { TSchema } from "@sinclair/typebox";
import type { FunctionDefinition } from "../../../src/calls/contract/definition.ts";
import { toolOf } from "../suite-worker.ts";
import type { ToolCall } from "./job.ts";

type Schema = TSchema & {
  readonly properties?: Readonly<Record<string, Schema>>;
  readonly items?: Schema;
  readonly anyOf?: readonly Schema[];
  readonly since?: string;
};

/** A field that clients add and that models are not shown. One use suffices for all functions. */
const scopeField = "fs_scope";

/**
 * Returns the name of the function, of each later field of its request, and of each value for such a field.
 */
export function laterParts(definition: FunctionDefinition): string[] {
  const tool = toolOf(definition.id);
  const { busFields = [] } = definition;
  const parts = fieldsIn(definition.request as Schema, "", definition.since !== undefined).filter(
    (part) => !busFields.some((field) => part === field || part.startsWith(`${field}=`)),
  );
  return [tool, ...parts.map((part) => nameOf(tool, part))];
}

function fieldsIn(
  { properties = {}, items, anyOf = [], since, ...schema }: Schema,
  at: string,
  isLater: boolean,
): string[] {
  const below = isLater || since !== undefined;
  return [
    ...Object.entries(properties).flatMap(([name, property]) => {
      const field = at === "" ? name : `${at}.${name}`;
      return [...(below || property.since !== undefined ? [field] : []), ...fieldsIn(property, field, below)];
    }),
    ...(items === undefined ? [] : fieldsIn(items, `${at}[]`, below)),
    ...anyOf.flatMap((one) => fieldsIn(one, at, below)),
    ...(below && typeof schema["const"] === "string" ? [`${at}=${schema["const"]}`] : []),
  ];
}

/** Returns the names of all parts that a call uses, in the form of `laterParts`. */
export function sentParts(
  { tool, args }: ToolCall,
  { hasFlatEnvelope = false }: FunctionDefinition,
): string[] {
  const sent = hasFlatEnvelope && !("files" in args) ? { ...args, files: [args] } : args;
  return [tool, ...valuesIn(sent, "").map((part) => nameOf(tool, part))];
}

function valuesIn(value: unknown, at: string): string[] {
  if (typeof value === "string") return [`${at}=${value}`];
  if (Array.isArray(value)) return value.flatMap((item) => valuesIn(item, `${at}[]`));
  return Object.entries(value ?? {}).flatMap(([name, inside]) => {
    const field = at === "" ? name : `${at}.${name}`;
    return [field, ...valuesIn(inside, field)];
  });
}

const nameOf = (tool: string, part: string): string =>
  part.startsWith(scopeField) ? part : `${tool}: ${part}`;
