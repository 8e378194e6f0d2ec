import type { ClientOutcome } from "./shell-fixture.ts";

/** An error for a client: prose, or a code and a message. */
export interface ShellError {
  readonly code: string | undefined;
  readonly message: string;
}

const prefix = "invocation_failed: handler error: ";

/** Returns the error of a call. Throws if it succeeded, or if its error lacks the form of shell §2.3. */
export function shellErrorOf(outcome: ClientOutcome): ShellError {
  const error = outcome.error;
  if (error === undefined) throw new Error(`answered ${JSON.stringify(outcome.answer)}`);
  if (error.code !== "invocation_failed" || !error.message.startsWith(prefix))
    throw new Error(`not the form of an error: ${error.code} ${error.message}`);
  const text = error.message.slice(prefix.length);
  requireGoodForm(text, error.stacktrace);
  if (!text.startsWith("{")) return { code: undefined, message: text };
  const { code, message } = JSON.parse(text) as { code: string; message: string };
  if (text !== JSON.stringify({ code, message })) throw new Error(`not compact: ${text}`);
  return { code, message };
}

/** Throws unless the text is one well-formed line without messages of the operating system. */
function requireGoodForm(text: string, stack = ""): void {
  const faults = [
    /[\u0000-\u001f\u007f-\u009f\u2028\u2029]/.test(text) && "is not one plain line",
    /\bE(NOENT|ACCES|PERM|MFILE|2BIG)\b|os error|\bat .*:\d+:\d+/.test(text) && "has the system's words",
    !text.isWellFormed() && "is not well-formed",
    text.length < 20 && "says too little",
    stack.includes("\n") && "has a stack",
  ].filter((fault) => fault !== false);
  if (faults.length > 0) throw new Error(`the error ${faults.join(" and ")}: ${text}`);
}
