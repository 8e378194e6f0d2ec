import type { CallToolResult, Tool } from "@modelcontextprotocol/server";
import type { FunctionDefinition } from "../contract/definition.ts";
import { jsonBytes } from "../text/json-size.ts";
import { portableSchema } from "./portable-schema.ts";

/** `coder::read-file` as `coder_read_file`: clients allow letters, digits, `_` and `-` in the name of a tool. */
export const toolName = (id: string): string => id.replaceAll(/[^A-Za-z0-9]+/g, "_");

/** A function as a tool (MCP 2025-11-25, server/tools). */
export function describeTool({
  id,
  description,
  effect,
  isAdditive = false,
  isIdempotent = false,
  isOpenWorld = false,
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
      destructiveHint: !isReading && !isAdditive,
      idempotentHint: isReading || isIdempotent,
      openWorldHint: isOpenWorld,
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

/**
 * An answer: as it is, and as text of at most `textBytes` as JSON. It is an error when an entry of a batch failed; the
 * others are in it all the same.
 */
export function renderAnswer(
  definition: FunctionDefinition,
  answer: unknown,
  textBytes: number,
): CallToolResult {
  const text = definition.render?.(answer as never) ?? JSON.stringify(answer);
  return {
    content: [{ type: "text", text: cut(text, textBytes) }],
    structuredContent: answer as Record<string, unknown>,
    ...(hasFailedEntry(answer) && { isError: true }),
  };
}

/** The text is there to be read; what no model can take in is not sent a second time. */
const mostCharacters = 1024 * 1024;

/** The most bytes that a character has in JSON, as `\u0001` has. */
const mostBytesOfCharacter = 6;

function cut(text: string, bytes: number): string {
  let shown = text.slice(0, mostCharacters);
  while (shown.length * mostBytesOfCharacter > bytes && jsonBytes(shown) > bytes)
    shown = shown.slice(0, shown.length / 2);
  if (shown.length === text.length) return text;
  return `${shown.toWellFormed()}\n[cut: ${shown.length} of ${text.length} characters; structuredContent has them all]`;
}

function hasFailedEntry(answer: unknown): boolean {
  const { results } = answer as { readonly results?: readonly { readonly success: boolean }[] };
  return results?.some(({ success }) => !success) ?? false;
}
