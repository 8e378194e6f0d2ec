import { tmpdir } from "node:os";
import type { ClientOutcome } from "./worker-fixture.ts";

/** The codes of a call's errors (coder §4). */
export type ErrorCode =
  | "C210"
  | "C211"
  | "C213"
  | "C215"
  | "C216"
  | "C217"
  | "C220"
  | "C221"
  | "C222"
  | "C223";

/** An error in its wire form. */
export interface CallError {
  readonly code: string;
  readonly message: string;
  readonly reason: string;
  readonly details?: Readonly<Record<string, unknown>>;
}

/** Parses the one-line form of an error (coder §4). Returns `undefined` if `text` is not exactly that. */
export function parseError(text: string): CallError | undefined {
  const value = parseJson(text);
  if (value === null || typeof value !== "object") return undefined;
  const { code, message, reason, details } = value as Record<string, unknown>;
  if (typeof code !== "string" || typeof message !== "string" || typeof reason !== "string") return undefined;
  if (details !== undefined && (typeof details !== "object" || details === null)) return undefined;
  const error = { code, message, reason, ...(details !== undefined && { details }) };
  return text === JSON.stringify(error) ? (error as CallError) : undefined;
}

function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return undefined;
  }
}

const wirePrefix = "handler error: ";

/**
 * Returns the code and message in the error of a call that a client of the SDK sees. Throws if the form
 * differs.
 */
export function parseWireError(thrown: { readonly code?: string; readonly message: string }): CallError {
  const prefix = `invocation_failed: ${wirePrefix}`;
  const error = thrown.message.startsWith(prefix)
    ? parseError(thrown.message.slice(prefix.length))
    : undefined;
  if (thrown.code !== "invocation_failed" || error === undefined) {
    throw new Error(`not the error form of the coder §4: ${JSON.stringify([thrown.code, thrown.message])}`);
  }
  return error;
}

const codes = /^C21[013567]$|^C22[0123]$/;
const nextStep =
  /\b(send|use|name|list|read|choose|ask|repeat|write|give|set|leave|merge|split|pass|drop|add|remove|delete|change|create|escape|shorten|raise|fix|correct|call|copy|move|rewrite|close|try|put|join|expected)\b/i;
const systemWords =
  /\bE(NOENT|ACCES|PERM|NOTDIR|ISDIR|LOOP|EXIST|NOTEMPTY|INVAL|XDEV|NAMETOOLONG)\b|no such file or directory|\n\s+at /i;

/** Returns the faults of an error for a model that sees nothing else, or an empty list. */
export function faultsOf(
  error: Pick<CallError, "code" | "message">,
  given: { payload: unknown; root: string },
): string[] {
  const { message } = error;
  const sent = JSON.stringify(given.payload) ?? "";
  const leaks = [given.root, `${tmpdir()}/`, "/proc", "fd/", "outside-secret", "denied-secret"].filter(
    (leak) => message.includes(leak) && !sent.includes(leak),
  );
  return [
    ...(codes.test(error.code) ? [] : [`the code ${error.code} is none of the nine`]),
    ...(message.length >= 25 ? [] : ["the message says too little"]),
    ...(/[\u0000-\u001f\u0085\u2028\u2029]/.test(message) ? ["the message is not one plain line"] : []),
    ...(nextStep.test(message) ? [] : ["the message names no next step"]),
    ...(systemWords.test(message) ? ["the message forwards the system's words"] : []),
    ...(message.isWellFormed() ? [] : ["the message is not well-formed"]),
    ...leaks.map((leak) => `the message leaks ${leak}`),
  ].map((fault) => `${fault}: ${message}`);
}

/** Parses the `error` of a result: a string, or an object from functions that no published reference has. */
export const parseEntryError = (error: unknown): CallError | undefined => parseError(textOf(error));

/** Returns the one-line form of either. A bus may change the order of an object's keys. */
function textOf(error: unknown): string {
  if (typeof error === "string") return error;
  const { code, message, reason, details, ...rest } = (error ?? {}) as Record<string, unknown>;
  return JSON.stringify({ code, message, reason, ...(details !== undefined && { details }), ...rest });
}

/**
 * Returns every error among the results of a batch as a string. Functions that no published reference has
 * return objects.
 */
export function entryErrors(answer: unknown): string[] {
  const results = (answer as { results?: unknown } | null)?.results;
  if (!Array.isArray(results)) return [];
  return results.flatMap(({ error }: { error?: unknown }) =>
    error === undefined || error === null ? [] : [textOf(error)],
  );
}

/** Returns the faults of the errors of an outcome, whether of the call or of entries of a batch. */
export function errorFaults(outcome: ClientOutcome, given: { payload: unknown; root: string }): string[] {
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
