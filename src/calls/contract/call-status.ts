/** Whether a call was carried out, as the log, the audit trail and telemetry say it. */
import { type FailedEntry, failedEntriesIn } from "./failed-entry.ts";
import { WrittenAnswer } from "./prepared-answer.ts";

export interface CallStatus {
  /** `error` if the call, or every entry of its batch, failed. */
  readonly outcome: "ok" | "error";
  /** The code of the error, or of the first entry that failed. */
  readonly code: string | undefined;
  /** The number of entries that failed, if others did not. */
  readonly failed: number | undefined;
}

const done: CallStatus = { outcome: "ok", code: undefined, failed: undefined };

/** The codes of entries whose errors are prose on the wire. */
const codesOfProse = new WeakMap<object, string>();

/** Returns an entry whose error is prose, after noting its code. */
export function withCode<Entry extends object>(entry: Entry, code: string | undefined): Entry {
  if (code !== undefined) codesOfProse.set(entry, code);
  return entry;
}

type Outcome = { readonly answer: unknown } | { readonly error: Pick<CallStatus, "code"> };

/** Returns the status of a call with this outcome. */
export function statusOf(outcome: Outcome): CallStatus {
  if ("error" in outcome) return { ...done, outcome: "error", code: outcome.error.code };
  // No function with entries writes its answer, and reading this one would parse it.
  if (outcome instanceof WrittenAnswer) return done;
  const { failed, first, total } = failedEntriesIn(outcome.answer);
  if (first === undefined) return done;
  const code = codeOf(first);
  return failed === total ? { ...done, outcome: "error", code } : { outcome: "ok", code, failed };
}

function codeOf(entry: FailedEntry): string | undefined {
  const { error } = entry;
  const described = typeof error === "string" ? parsed(error) : error;
  const code = (described as { readonly code?: unknown } | null | undefined)?.code;
  return typeof code === "string" ? code : codesOfProse.get(entry);
}

function parsed(error: string): unknown {
  try {
    return JSON.parse(error);
  } catch {
    return undefined;
  }
}
