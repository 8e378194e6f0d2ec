import { createHash } from "node:crypto";
import { quoteVisibly } from "../base/log/quote.ts";
import { refuseApproval } from "../calls/approval/approval-errors.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { argvOf, type ShellCommand } from "./command.ts";
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
  const argv = argvOf(command);
  context.policy.validate(argv);
  if (!approvals.hasApprover(context)) throw refuseApproval.impossible();
  const { cwd } = command as { readonly cwd?: string | null };
  const summary = [`run ${renderCommand(argv)}`, ...(cwd == null ? [] : [`in ${quoteVisibly(cwd)}`])];
  const fingerprint = createHash("sha256").update(JSON.stringify(command)).digest("hex");
  await approvals.request({ summary, diff: "", isDiffCut: false, fingerprint }, context);
}
