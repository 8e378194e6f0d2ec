import type { Tool } from "@modelcontextprotocol/server";
import type { FunctionDefinition } from "../contract/definition.ts";
import { wordingFor } from "../contract/wording.ts";
import { type AcceptedRequests, inputSchema } from "./input-schema.ts";
import { portableSchema } from "./portable-schema.ts";
import { withoutRepeatedDescriptions } from "./repeated-descriptions.ts";

/** `coder::read-file` as `coder_read_file`: clients allow letters, digits, `_` and `-` in the name of a tool. */
export const toolName = (id: string): string => id.replaceAll(/[^A-Za-z0-9]+/g, "_");

/** Names functions as clients know them, in all texts that a model is shown. */
export const wording = wordingFor(toolName);

export interface ToolOptions extends AcceptedRequests {
  /** Answers are sent as JSON too, and have schemas. */
  readonly isStructured: boolean;
}

/** Functions as tools (MCP 2025-11-25, server/tools). */
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
      // The defaults of the protocol are left out, and what means nothing for a tool that only reads.
      ...(isReading ? { readOnlyHint: true } : { destructiveHint: !isAdditive }),
      ...(!isReading && isIdempotent && { idempotentHint: true }),
      openWorldHint: isOpenWorld,
    },
  };
}

/** The schema, whose descriptions name functions as clients know them. */
const nameTools = <S extends object>(schema: S): S =>
  JSON.parse(JSON.stringify(schema), (key, value) =>
    key === "description" && typeof value === "string" ? wording.sentence(value) : value,
  );

/** `coder::read-file` as `Read file`. */
function titleOf(id: string): string {
  const words = id.slice(id.lastIndexOf(":") + 1).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}
