import { createHash } from "node:crypto";
import { escapeInvisible, quoteVisibly } from "../base/log/quote.ts";
import { createTimeSlice, runInSlices, type Steps } from "../base/scheduling/time-slice.ts";
import { refuseApproval } from "../calls/approval/approval-errors.ts";
import type { Proposal } from "../calls/approval/approvals.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { jsonPartsOf } from "../text/sizes/json-parts.ts";
import { argvOf, requireOneLine, type ShellCommand } from "./command.ts";
import type { CommandOptions } from "./command-options.ts";
import type { ShellContext } from "./define.ts";
import { renderCommand } from "./job-text.ts";
import type { Argv } from "./programs/words.ts";

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
  const fingerprint = await runInSlices(fingerprintOf(command), createTimeSlice());
  await approvals.request({ ...describe(command), diff: "", fingerprint }, context);
}

/** Returns a digest of a command, in steps: its standard input may have megabytes. */
function* fingerprintOf(command: ShellCommand): Steps<string> {
  const hash = createHash("sha256");
  for (const part of jsonPartsOf(command)) {
    hash.update(part);
    yield;
  }
  return hash.digest("hex");
}

/** Maximum characters shown of the standard input and of each variable, and maximum number of variables. */
const [maxShown, maxVariables] = [4000, 50];

/** Maximum characters shown of the program and its arguments together. */
const maxCommandLine = 64 * 1024;

/**
 * Describes a command with everything that decides what it does. The variables come before the standard
 * input, which may be a script of many lines.
 */
function describe(command: ShellCommand & CommandOptions): Pick<Proposal, "summary" | "isDiffCut"> {
  const { cwd, env, stdin } = command;
  const variables = Object.entries(env ?? {});
  const values = [...variables.slice(0, maxVariables).map(([, value]) => value), stdin ?? ""];
  const line = commandLineOf(argvOf(command));
  return {
    summary: [
      `run ${line.text}`,
      ...(cwd == null ? [] : [`in ${quoteVisibly(cwd)}`]),
      ...variables
        .slice(0, maxVariables)
        .map(([name, value]) => `with ${escapeInvisible(name)}=${quoteStart(value)}`),
      ...(variables.length > maxVariables ? [`with ${variables.length - maxVariables} more variables`] : []),
      ...(stdin == null ? [] : [`with the standard input ${quoteStart(stdin)}`]),
    ],
    isDiffCut:
      line.isCut || variables.length > maxVariables || values.some((value) => value.length > maxShown),
  };
}

/** Returns the command line, or its beginning and its length. */
function commandLineOf(argv: Argv): { readonly text: string; readonly isCut: boolean } {
  const length = argv.reduce((sum, word) => sum + word.length + 1, -1);
  if (length <= maxCommandLine) return { text: renderCommand(argv), isCut: false };
  let left = maxCommandLine;
  const shown: string[] = [];
  for (const word of argv) {
    shown.push(word.slice(0, left));
    left -= word.length + 1;
    if (left <= 0) break;
  }
  return { text: `${renderCommand(shown)}… (${length} characters)`, isCut: true };
}

/** Returns a text in quotes, or its beginning and its length. */
const quoteStart = (text: string): string =>
  text.length <= maxShown
    ? quoteVisibly(text)
    : `${quoteVisibly(text.slice(0, maxShown))}… (${text.length} characters)`;
