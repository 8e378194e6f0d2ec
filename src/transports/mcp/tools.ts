import type { Tool } from "@modelcontextprotocol/server";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { wordingFor } from "../../calls/contract/wording.ts";
import { type AcceptedRequests, inputSchema } from "./input-schema.ts";
import { portableSchema } from "./portable-schema.ts";
import { withoutRepeatedDescriptions } from "./repeated-descriptions.ts";

/**
 * Returns `coder_read_file` for `coder::read-file`. Clients allow letters, digits, `_` and `-` in the name of
 * a tool.
 */
export const toolName = (id: string): string => id.replaceAll(/[^A-Za-z0-9]+/g, "_");

/** The wording of all texts for a model, with the names that clients have for functions. */
export const wording = wordingFor(toolName);

export interface ToolOptions extends AcceptedRequests {
  /** Whether answers are also sent as JSON, and have schemas. */
  readonly isStructured: boolean;
}

/** Describes functions as tools (MCP 2025-11-25, server/tools). */
export const describeTools = (definitions: readonly FunctionDefinition[], options: ToolOptions): Tool[] =>
  withoutRepeatedDescriptions(definitions.map((definition) => describeTool(definition, options)));

function describeTool(definition: FunctionDefinition, options: ToolOptions): Tool {
  const { isStructured } = options;
  const { id, brief, description, effect, response } = definition;
  const { isAdditive = false, isIdempotent = false, isOpenWorld = false } = definition;
  const isReading = effect === "reads";
  return {
    name: toolName(id),
    title: titleOf(id),
    description: wording.sentence(brief ?? description),
    inputSchema: inputSchema(definition, options),
    ...(isStructured && { outputSchema: nameTools(portableSchema(response)) }),
    annotations: {
      // The protocol's defaults are left out, and so are hints without meaning for a tool that only reads.
      ...(isReading ? { readOnlyHint: true } : { destructiveHint: !isAdditive }),
      ...(!isReading && isIdempotent && { idempotentHint: true }),
      openWorldHint: isOpenWorld,
    },
  };
}

/** Returns the schema with the names that clients have for functions in its descriptions. */
const nameTools = <S extends object>(schema: S): S =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "description" && typeof value === "string" ? wording.sentence(value) : value,
  );

/** Returns `Read file` for `coder::read-file`. */
function titleOf(id: string): string {
  const words = id.slice(id.lastIndexOf(":") + 1).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
