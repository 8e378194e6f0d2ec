/** What a refusal is on the wire in the answers of `coder::*`. */
import { type Reason, Refusal } from "../errors.ts";

/** The code of each reason in the answers of `coder::*` (coder §4). */
export const coderCodes: Readonly<Record<Reason, string>> = {
  "bad-input": "C210",
  "bad-pattern": "C210",
  "wrong-kind": "C210",
  missing: "C211",
  denied: "C211",
  "too-large": "C213",
  outside: "C215",
  io: "C216",
  permission: "C216",
  "not-empty": "C216",
  timeout: "C216",
  exists: "C217",
};

/** What each code means to a caller; the error page is rendered from it. */
export const coderMeanings: Readonly<Record<string, string>> = {
  C210: "Bad input: malformed payload, illegal line numbers, overlapping ops, bad pattern, glob or mode, absolute path, not a regular file or not a folder.",
  C211: "Not found, or denied by a glob. One wording for both, so that nobody can tell them apart.",
  C213: "Larger than `max_read_bytes`, `max_write_bytes` or what one message on the bus can carry.",
  C215: "The path leaves `base_path`, lexically or through a symlink; or a symlink in it dangles or loops.",
  C216: "An I/O error below (permission, folder not empty, disk full), or the call ran out of time or was cancelled.",
  C217: "`coder::create-file` found an existing file and `overwrite` is false.",
};

/** A refusal as it is on the wire: compact JSON, code before message (coder §4). */
export function renderRefusal(refusal: Refusal): string {
  return JSON.stringify({ code: coderCodes[refusal.reason], message: refusal.message });
}

/** An error of `coder::*` on the wire, with its code; undefined for an unexpected one. */
export function renderCoderError(error: unknown): { text: string; code: string } | undefined {
  if (!(error instanceof Refusal)) return undefined;
  return { text: renderRefusal(error), code: coderCodes[error.reason] };
}

/** Whether a rendered refusal says that there is nothing, or nothing to be seen, at a path. */
export const isAbsence = (rendered: string): boolean =>
  (JSON.parse(rendered) as { code: string }).code === coderCodes.missing;
