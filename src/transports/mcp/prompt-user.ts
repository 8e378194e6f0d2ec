/** Prompts the user of a client by elicitation in form mode (MCP 2025-11-25, client/elicitation). */
import type { ClientCapabilities, ServerContext } from "@modelcontextprotocol/server";
import { escapeInvisible } from "../../base/log/quote.ts";
import type { PendingApproval, PromptUser } from "../../calls/approval/approvals.ts";
import { toolName } from "./tools.ts";

/** Maximum characters of the diff in a question. Clients show it in a small dialog. */
const maxDiffCharacters = 4000;

/** The maximum of a timer. The configuration bounds the wait itself. */
const maxTimerMilliseconds = 2 ** 31 - 1;

/** Returns a function that prompts the user, or `undefined` if the client cannot. */
export function promptUserOver(
  { mcpReq }: ServerContext,
  { elicitation }: ClientCapabilities = {},
): PromptUser | undefined {
  if (elicitation?.form === undefined) return undefined;
  return async (question, signal) => {
    try {
      const { action } = await mcpReq.elicitInput(
        { message: renderQuestion(question), requestedSchema: { type: "object", properties: {} } },
        { signal, timeout: maxTimerMilliseconds },
      );
      return action === "accept" ? "yes" : action === "decline" ? "no" : "dismissed";
    } catch {
      return "gone";
    }
  };
}

/** Renders what a person decides about. Names and contents are those of the tree, which may be hostile. */
function renderQuestion({ function: id, author, summary, diff, isDiffCut }: PendingApproval): string {
  const shown = diff.slice(0, maxDiffCharacters).toWellFormed();
  const isCut = isDiffCut || shown.length < diff.length;
  return [
    `${author} calls ${toolName(id)}, which would:`,
    ...summary.map((line) => `- ${line}`),
    ...(shown === "" ? [] : ["", ...shown.trimEnd().split("\n").map(escapeInvisible)]),
    ...(isCut ? ["[more of it is not shown]"] : []),
    "",
    "Accept to let it happen. Nothing has been changed yet.",
  ].join("\n");
}
