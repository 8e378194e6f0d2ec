import { createHash } from "node:crypto";
import { escapeInvisible, quoteVisibly } from "../base/log/quote.ts";
import { refuseApproval } from "../calls/approval/approval-errors.ts";
import type { Proposal } from "../calls/approval/approvals.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { argvOf, requireOneLine, type ShellCommand } from "./command.ts";
import type { CommandOptions } from "./command-options.ts";
import type { ShellContext } from "./define.ts";
import { renderCommand } from "./job-text.ts";

/** Returns the definition with calls that wait for approval, for a function that runs a command. */
export function withCommandApproval(definition: FunctionDefinition): FunctionDefinition {
  return {
    ...definition,
    async handle(request, context) {
      if (context.approvals !== undefined) await approve(request as ShellCommand, context as ShellContext);
      return await definition.handle(request, context);
    },
  };
}

async function approve(command: ShellCommand, context: ShellContext): Promise<void> {
  const approvals = context.approvals!;
  requireOneLine(command, context);
  const argv = argvOf(command);
  context.policy.validate(argv);
  if (!approvals.hasApprover(context)) throw refuseApproval.impossible();
  const fingerprint = createHash("sha256").update(JSON.stringify(command)).digest("hex");
  await approvals.request({ ...describe(command), diff: "", fingerprint }, context);
}

/** Maximum characters shown of the standard input and of each variable, and maximum number of variables. */
const [maxShown, maxVariables] = [4000, 50];

/**
 * Describes a command with everything that decides what it does. The variables come before the standard
 * input, which may be a script of many lines.
 */
function describe(command: ShellCommand & CommandOptions): Pick<Proposal, "summary" | "isDiffCut"> {
  const { cwd, env, stdin } = command;
  const variables = Object.entries(env ?? {});
  const values = [...variables.slice(0, maxVariables).map(([, value]) => value), stdin ?? ""];
  return {
    summary: [
      `run ${renderCommand(argvOf(command))}`,
      ...(cwd == null ? [] : [`in ${quoteVisibly(cwd)}`]),
      ...variables
        .slice(0, maxVariables)
        .map(([name, value]) => `with ${escapeInvisible(name)}=${quoteStart(value)}`),
      ...(variables.length > maxVariables ? [`with ${variables.length - maxVariables} more variables`] : []),
      ...(stdin == null ? [] : [`with the standard input ${quoteStart(stdin)}`]),
    ],
    isDiffCut: variables.length > maxVariables || values.some((value) => value.length > maxShown),
  };
}

/** Returns a text in quotes, or its beginning and its length. */
const quoteStart = (text: string): string =>
  text.length <= maxShown
    ? quoteVisibly(text)
    : `${quoteVisibly(text.slice(0, maxShown))}… (${text.length} characters)`;
