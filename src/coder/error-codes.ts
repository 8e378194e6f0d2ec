/** The codes of refusals in the answers of `coder::*`, and their form on the wire. */
import { type Static, Type } from "@sinclair/typebox";
import { type Reason, Refusal } from "../base/errors.ts";
import { Named } from "../base/schema/fragments.ts";
import type { WireError } from "../calls/contract/definition.ts";

/** The code of each reason in the answers of `coder::*` (coder §4). */
export const coderCodes: Readonly<Record<Reason, string>> = {
  "bad-input": "C210",
  "bad-pattern": "C210",
  "unknown-field": "C210",
  "wrong-kind": "C210",
  missing: "C211",
  denied: "C211",
  "denied-by-rule": "C211",
  "too-large": "C213",
  outside: "C215",
  "out-of-scope": "C220",
  io: "C216",
  permission: "C216",
  "not-empty": "C216",
  timeout: "C216",
  exists: "C217",
  "text-not-found": "C210",
  "already-applied": "C210",
  ambiguous: "C210",
  "match-count": "C210",
  "revision-mismatch": "C221",
  protected: "C222",
  "over-quota": "C223",
  declined: "C224",
  "approval-required": "C224",
};

/**
 * The closed list of values of `reason`. Missing and denied paths share one, except in an error that names
 * the deny rule, which follows from the path alone, and in one about a folder that the call sees.
 */
const wireReasons = {
  "bad-input": "invalid_argument",
  "bad-pattern": "invalid_pattern",
  "unknown-field": "unknown_field",
  "wrong-kind": "wrong_kind",
  missing: "no_such_path",
  denied: "no_such_path",
  "denied-by-rule": "denied",
  "too-large": "too_large",
  outside: "outside",
  "out-of-scope": "out_of_scope",
  io: "io",
  permission: "permission_denied",
  "not-empty": "not_empty",
  timeout: "deadline_exceeded",
  exists: "already_exists",
  "text-not-found": "not_found",
  "already-applied": "already_applied",
  ambiguous: "ambiguous",
  "match-count": "match_count",
  "revision-mismatch": "revision_mismatch",
  protected: "protected",
  "over-quota": "quota_exceeded",
  declined: "declined",
  "approval-required": "approval_required",
} as const satisfies Readonly<Record<Reason, string>>;

/** The error of an entry, in the results of functions that no published reference has. */
export const EntryError = Named("EntryError", {
  code: Type.String(),
  details: Type.Optional(Type.Unknown()),
  message: Type.String(),
  reason: Type.String(),
});

/** The meaning of each code to a caller, as the error page shows it. */
export const coderMeanings: Readonly<Record<string, string>> = {
  C210: "Bad input: malformed payload, unknown field (with `unknown_fields: refuse`), illegal line numbers, overlapping ops, bad pattern, glob or mode, absolute path, not a regular file or not a folder.",
  C211: "Not found, or denied by a glob. One wording for both, so that nobody can tell them apart; but the profile `agent` names the glob that a path matches as it was sent, whether it exists or not, or the folder that holds something denied, and gives `denied` as the reason.",
  C213: "Larger than `max_read_bytes`, `max_write_bytes` or what one message on the bus can carry.",
  C215: "The path leaves `base_path`, lexically or through a symlink; or a symlink in it dangles or loops.",
  C216: "An I/O error below (permission, folder not empty, disk full), or the call ran out of time or was cancelled.",
  C217: "`coder::create-file` found an existing file and `overwrite` is false.",
  C220: "The path is outside of what `fs_scope` of the same call permits, or may only be read by that.",
  C221: "The file is not what `expected_revision` or a plan says. `details` holds its revision now and the lines that the call is about.",
  C222: "A `write_deny_globs` of the configuration or of the profile protects the path, or something below it. It can be read.",
  C223: "The caller is over one of its `quotas`, or the worker has too much to do. `details.retry_after_ms` says when to send the call again, where that is known.",
  C224: "The user declined the call, or did not answer in time; or nobody can be asked, and `details.plan` is to be approved first (`approval`). Nothing was changed.",
};

/** The values of `reason`, for the error page. */
export const coderReasons: readonly string[] = [...new Set(Object.values(wireReasons))];

/** Renders a refusal for the wire: compact JSON, code before message (coder §4). */
export const renderRefusal = (refusal: Refusal): string => JSON.stringify(describeRefusal(refusal));

function describeRefusal({ reason, message, details }: Refusal): Static<typeof EntryError> {
  const head = { code: coderCodes[reason], message, reason: wireReasons[reason] };
  return details === undefined ? head : { ...head, details };
}

/** Returns the error of an entry as an object. */
export const entryError = ({ text }: WireError): Static<typeof EntryError> => JSON.parse(text);

/** Renders an error of `coder::*` for the wire. Returns `undefined` for an unexpected one. */
export function renderCoderError(error: unknown): WireError | undefined {
  if (!(error instanceof Refusal)) return undefined;
  return { text: renderRefusal(error), code: coderCodes[error.reason] };
}

/** Returns whether a rendered refusal says that a path is missing or denied. */
export const isAbsence = (rendered: string): boolean =>
  (JSON.parse(rendered) as { code: string }).code === coderCodes.missing;
