/**
 * Offers the page of `coder review` as an MCP App (MCP Apps 2026-01-26): a host shows it beside the result of
 * each tool that changes files. Clients that do not declare the extension get plain tools.
 */
import { getUiCapability, RESOURCE_MIME_TYPE } from "@modelcontextprotocol/ext-apps/server";
import {
  type CallToolResult,
  type ClientCapabilities,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
  type Tool,
} from "@modelcontextprotocol/server";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { calledByPage } from "../../review/called-by-page.ts";
import { quoteBriefly } from "./messages.ts";
import type { CallOptions, ToolHost } from "./tool-host.ts";
import { toolName } from "./tools.ts";

/** The address of the page. */
export const appUri = "ui://coder/review";

/** The tool that only the page calls. Its answers are JSON, and other tools answer text for a model. */
export const appTool = "coder_review";

/** The key of a result's metadata with the number of its checkpoint, which the page shows. */
const checkpointKey = "dev.iii.coder/checkpoint";

/** Returns whether a client shows MCP Apps. */
export const showsApps = (capabilities: ClientCapabilities | undefined): boolean =>
  getUiCapability(capabilities)?.mimeTypes?.includes(RESOURCE_MIME_TYPE) ?? false;

/** Returns whether the page shows the changes of a function. */
const isShown = ({ id, effect }: FunctionDefinition): boolean =>
  effect === "writes" && id.startsWith("coder::");

/** Returns the tools of a host, those that change files with the page, and the tool of the page. */
export function toolsWithApp({ tools, functions }: ToolHost): Tool[] {
  const shown = new Set([...functions.values()].filter(isShown).map(({ id }) => toolName(id)));
  return [
    ...tools.map((tool) =>
      shown.has(tool.name) ? { ...tool, _meta: { ui: { resourceUri: appUri } } } : tool,
    ),
    {
      name: appTool,
      description: "Called by the page that shows changes of files.",
      inputSchema: {
        type: "object",
        properties: { function: { type: "string", enum: [...calledByPage] }, payload: { type: "object" } },
        required: ["function", "payload"],
      },
      _meta: { ui: { resourceUri: appUri, visibility: ["app"] } },
    },
  ];
}

/** Answers a call of the page. Like a call of the client, it may need the approval of its user. */
export async function callForApp(
  host: ToolHost,
  sent: object,
  options: CallOptions,
): Promise<CallToolResult> {
  const { function: id, payload = {} } = sent as { readonly function?: unknown; readonly payload?: unknown };
  const definition = calledByPage.some((known) => known === id)
    ? host.functions.get(toolName(String(id)))
    : undefined;
  if (definition === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InvalidParams,
      `The page cannot call ${typeof id === "string" ? quoteBriefly(id) : `a value of the type ${typeof id}`}. Send one of ${calledByPage.join(", ")} in \`function\`.`,
    );
  const outcome = await host.call(definition, payload, options);
  return {
    content: [{ type: "text", text: `The answer of ${definition.id} is in structuredContent.` }],
    structuredContent: "error" in outcome ? { error: outcome.error } : { answer: outcome.answer },
  };
}

/** Adds the number of a result's checkpoint, if any, for the page. */
export function withCheckpointKey(result: CallToolResult, answer: unknown): CallToolResult {
  const { checkpoint } = answer as { readonly checkpoint?: number };
  return checkpoint === undefined ? result : { ...result, _meta: { [checkpointKey]: checkpoint } };
}

/** Reads the page. It may load nothing from elsewhere, which is the default of hosts. */
export async function readApp(): Promise<ReadResourceResult> {
  const { readPage } = await import("../../review/page-files.ts");
  if (readPage === undefined)
    throw new ProtocolError(
      ProtocolErrorCode.InternalError,
      "The page is not part of these sources; npm run build makes a program that has it.",
    );
  const _meta = { ui: { prefersBorder: true } };
  return { contents: [{ uri: appUri, mimeType: RESOURCE_MIME_TYPE, text: readPage().app, _meta }] };
}
