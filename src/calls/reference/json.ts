/**
 * The published API reference, made from the list of functions, with its keys in alphabetical order (bus §9).
 */
import { isDeepStrictEqual } from "node:util";
import { type JsonValue, renderSchema, sortKeys } from "../../base/schema/json-schema.ts";
import type { FunctionDefinition } from "../contract/definition.ts";
import type { TriggerDefinition } from "../contract/trigger.ts";

/**
 * Renders the whole reference, as `--print-schema` prints it. With `publishedIn`, such as `coder 0.2.0`, it
 * renders that reference, without later functions and fields.
 */
export function renderReference(
  functions: readonly FunctionDefinition[],
  publishedIn?: string,
  triggers: readonly TriggerDefinition[] = [],
): JsonValue {
  const isPublished = publishedIn !== undefined;
  const shown = isPublished ? functions.filter((one) => one.publishedIn === publishedIn) : functions;
  return sortKeys({
    functions: shown.map(({ id, description, since, request, published, response }) => ({
      name: id,
      description,
      metadata: { ...(since !== undefined && { since }) },
      request_schema: renderSchema(published ?? request, { isPublished }),
      response_schema: renderSchema(response, { isPublished }),
    })),
    triggers: triggers.map(({ id, description, since, config, event }) => ({
      name: id,
      description,
      metadata: { since },
      config_schema: renderSchema(config),
      event_schema: renderSchema(event),
    })),
  });
}

/**
 * Renders the functions that are missing from a published reference, and those that have got fields since.
 */
export const renderOwnReference = (functions: readonly FunctionDefinition[]): JsonValue =>
  renderReference(functions.filter(isOwn));

const isOwn = (definition: FunctionDefinition): boolean =>
  definition.publishedIn === undefined ||
  !isDeepStrictEqual(renderReference([definition]), renderReference([definition], definition.publishedIn));
