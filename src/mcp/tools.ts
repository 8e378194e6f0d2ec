import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { FunctionDefinition } from "../worker/define.ts";
import { portableSchema } from "./portable-schema.ts";

/** `coder::read-file` as `coder_read_file`: clients allow letters, digits, `_` and `-` in the name of a tool. */
export const toolName = (id: string): string => id.replaceAll(/[^A-Za-z0-9]+/g, "_");

/** A function as a tool (MCP 2025-11-25, server/tools). */
export function describeTool({
  id,
  description,
  effect,
  isIdempotent,
  request,
  response,
}: FunctionDefinition): Tool {
  const isReading = effect === "reads";
  return {
    name: toolName(id),
    title: titleOf(id),
    description,
    inputSchema: portableSchema(request),
    outputSchema: portableSchema(response),
    annotations: {
      readOnlyHint: isReading,
      // Each function that writes can replace or remove what was there.
      destructiveHint: !isReading,
      idempotentHint: isReading || isIdempotent === true,
      openWorldHint: false,
    },
  };
}

/** `coder::read-file` as `Read file`. */
function titleOf(id: string): string {
  const words = id.slice(id.lastIndexOf(":") + 1).replaceAll("-", " ");
  return words.charAt(0).toUpperCase() + words.slice(1);
}

/** A call that failed: the one-line JSON with code and message, as on the bus. */
export const renderFailure = (error: string): CallToolResult => ({
  content: [{ type: "text", text: error }],
  isError: true,
});

/** An answer: as it is, and as text. It is an error when an entry of a batch failed; the others are in it all the same. */
export function renderAnswer(definition: FunctionDefinition, answer: unknown): CallToolResult {
  const text = definition.render?.(answer as never) ?? JSON.stringify(answer);
  return {
    content: [{ type: "text", text: cut(text) }],
    structuredContent: answer as Record<string, unknown>,
    ...(hasFailedEntry(answer) && { isError: true }),
  };
}

/** The text is there to be read; what no model can take in is not sent a second time. */
const mostCharacters = 1024 * 1024;

function cut(text: string): string {
  if (text.length <= mostCharacters) return text;
  const shown = text.slice(0, mostCharacters).toWellFormed();
  return `${shown}\n[cut: ${mostCharacters} of ${text.length} characters; structuredContent has them all]`;
}

function hasFailedEntry(answer: unknown): boolean {
  const { results } = answer as { readonly results?: readonly { readonly success: boolean }[] };
  return results?.some(({ success }) => !success) ?? false;
}
