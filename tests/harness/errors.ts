import { tmpdir } from "node:os";
import type { Outcome } from "./served.ts";

/** The codes of a call's errors (coder §4). */
export type Code = "C210" | "C211" | "C213" | "C215" | "C216" | "C217";

/** The one-line form of an error (coder §4), or undefined where `text` is not exactly that. */
export function parseError(text: string): { code: string; message: string } | undefined {
  const value = parseJson(text);
  if (value === null || typeof value !== "object") return undefined;
  const { code, message } = value as Record<string, unknown>;
  if (typeof code !== "string" || typeof message !== "string") return undefined;
  return text === JSON.stringify({ code, message }) ? { code, message } : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const wirePrefix = "handler error: ";

/** The code and message in the error of a call as a client of the SDK sees it; throws where the form differs. */
export function parseWireError(seen: { readonly code?: string; readonly message: string }): {
  code: string;
  message: string;
} {
  const prefix = `invocation_failed: ${wirePrefix}`;
  const error = seen.message.startsWith(prefix) ? parseError(seen.message.slice(prefix.length)) : undefined;
  if (seen.code !== "invocation_failed" || error === undefined) {
    throw new Error(`not the error form of the coder §4: ${JSON.stringify([seen.code, seen.message])}`);
  }
  return error;
}

const codes = /^C21[013567]$/;
const nextStep =
  /\b(send|use|name|list|read|choose|ask|repeat|write|give|set|leave|merge|split|pass|drop|add|remove|delete|change|create|escape|shorten|raise|fix|correct|call|rewrite|close|try|put|join|expected)\b/i;
const systemWords =
  /\bE(NOENT|ACCES|PERM|NOTDIR|ISDIR|LOOP|EXIST|NOTEMPTY|INVAL|XDEV|NAMETOOLONG)\b|no such file or directory|\n\s+at /i;

/** What is wrong with an error for a model that has nothing else to go by; empty when nothing is. */
export function faultsOf(
  error: { code: string; message: string },
  given: { payload: unknown; root: string },
): string[] {
  const { message } = error;
  const sent = JSON.stringify(given.payload) ?? "";
  const leaks = [given.root, `${tmpdir()}/`, "/proc", "fd/", "outside-secret", "denied-secret"].filter(
    (leak) => message.includes(leak) && !sent.includes(leak),
  );
  return [
    ...(codes.test(error.code) ? [] : [`the code ${error.code} is none of the six`]),
    ...(message.length >= 25 ? [] : ["the message says too little"]),
    ...(/[\u0000-\u001f\u0085\u2028\u2029]/.test(message) ? ["the message is not one plain line"] : []),
    ...(nextStep.test(message) ? [] : ["the message names no next step"]),
    ...(systemWords.test(message) ? ["the message forwards the system's words"] : []),
    ...(message.isWellFormed() ? [] : ["the message is not well-formed"]),
    ...leaks.map((leak) => `the message leaks ${leak}`),
  ].map((fault) => `${fault}: ${message}`);
}

/** Every error string among the results of a batch. */
export function entryErrors(answer: unknown): string[] {
  const results = (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(results)) return [];
  return results.flatMap((result: { error?: unknown }) =>
    typeof result.error === "string" ? [result.error] : [],
  );
}

/** What is wrong with the errors of an outcome, be they of the call or of entries of a batch. */
export function errorFaults(outcome: Outcome, given: { payload: unknown; root: string }): string[] {
  if (outcome.error !== undefined) {
    const stack = outcome.error.stacktrace ?? "";
    return [
      ...faultsOf(parseWireError(outcome.error), given),
      ...(stack.includes("\n") || stack.includes("/src/") ? [`the stack leaks: ${stack}`] : []),
    ];
  }
  return entryErrors(outcome.answer).flatMap((text) => {
    const error = parseError(text);
    return error === undefined ? [`not the error form of the coder §4: ${text}`] : faultsOf(error, given);
  });
}
