/** The codes of refusals in the answers of `shell::*`, and their form on the wire. */
import { type Reason, Refusal } from "../base/errors.ts";
import type { WireError } from "../calls/contract/definition.ts";
import { PlainRefusal } from "./programs/plain-refusal.ts";
import { ForwardedRefusal } from "./shell-errors.ts";

/** The code of each reason in the answers of `shell::*` (shell §11.1). */
export const shellCodes: Readonly<Record<Reason, string>> = {
  "bad-input": "S210",
  "bad-pattern": "S217",
  "unknown-field": "S210",
  "wrong-kind": "S212",
  missing: "S211",
  denied: "S215",
  "denied-by-rule": "S215",
  "too-large": "S218",
  outside: "S215",
  "out-of-scope": "S215",
  io: "S216",
  permission: "S215",
  "not-empty": "S214",
  timeout: "S216",
  exists: "S213",
  "text-not-found": "S210",
  "already-applied": "S210",
  ambiguous: "S210",
  "match-count": "S210",
  "revision-mismatch": "S216",
  protected: "S215",
  "over-quota": "S216",
  declined: "S215",
  "approval-required": "S215",
};

/** The meaning of each code to a caller of `shell::*`, as the error page shows it. */
export const shellMeanings: Readonly<Record<string, string>> = {
  S210: "Bad request: malformed `fs` payload, unknown field (with `unknown_fields: refuse`), relative path, bad mode, a folder where `recursive` is false, the sandbox target while it is disabled.",
  S211: "Path not found.",
  S212: "Wrong kind: not a folder for `ls`, a folder for `read`, a link as the root of a recursive `chmod`.",
  S213: "Exists already.",
  S214: "The folder is not empty.",
  S215: "Outside of `fs.host_root`, on `fs.denylist_paths` or `fs.deny_globs`, through a dangling link, or not permitted by the operating system.",
  S216: "Other failure below: I/O, a program that cannot be started, a channel, an answer of the engine that makes no sense; or the call ran out of time.",
  S217: "Bad regular expression.",
  S218: "Larger than `fs.max_read_bytes`, `fs.max_write_bytes` or what one message on the bus can carry.",
};

/** The codes that a sandbox may answer with, by the family of the call (shell §10.3). */
export const forwardableCodes = {
  fs: "S001 S002 S003 S004 S200 S210 S211 S212 S213 S214 S215 S216 S217 S218 S219".split(" "),
  exec: "S001 S002 S003 S004 S100 S101 S102 S200 S210 S216 S300 S400".split(" "),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** The code of a sandbox whose program failed or timed out (shell §10.1). */
export const sandboxFailure = "S200";

/** Renders an error of `shell::*` for the wire (shell §2.3). Returns `undefined` for an unexpected one. */
export function renderShellError(error: unknown): WireError | undefined {
  if (error instanceof PlainRefusal)
    return { text: error.message, code: shellCodes[error.reason], isProse: true };
  if (error instanceof ForwardedRefusal) return coded(error.code, error.message);
  if (!(error instanceof Refusal)) return undefined;
  const { reason, message, details } = error;
  return reason === "unknown-field"
    ? coded(shellCodes[reason], message, { reason: "unknown_field", details })
    : coded(shellCodes[reason], message);
}

/** Returns an error with a code. Only errors that came after shell 0.3.5 have further fields. */
const coded = (code: string, message: string, later: object = {}) => ({
  text: JSON.stringify({ code, message, ...later }),
  code,
});
