/** What a refusal is on the wire. */

import { PlainRefusal } from "./errors/plain.ts";
import { ForwardedRefusal } from "./errors/shell.ts";
import { type Reason, Refusal } from "./errors.ts";

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
  return coded(coderCodes[error.reason], error.message);
}

/** Whether a rendered refusal says that there is nothing, or nothing to be seen, at a path. */
export const isAbsence = (rendered: string): boolean =>
  (JSON.parse(rendered) as { code: string }).code === coderCodes.missing;

/** The code of each reason in the answers of `shell::*` (shell §11.1). */
export const shellCodes: Readonly<Record<Reason, string>> = {
  "bad-input": "S210",
  "bad-pattern": "S217",
  "wrong-kind": "S212",
  missing: "S211",
  denied: "S215",
  "too-large": "S218",
  outside: "S215",
  io: "S216",
  permission: "S215",
  "not-empty": "S214",
  timeout: "S216",
  exists: "S213",
};

/** What each code means to a caller of `shell::*`. */
export const shellMeanings: Readonly<Record<string, string>> = {
  S210: "Bad request: malformed `fs` payload, relative path, bad mode, a folder where `recursive` is false, the sandbox target while it is disabled.",
  S211: "Path not found.",
  S212: "Wrong kind: not a folder for `ls`, a folder for `read`, a link as the root of a recursive `chmod`.",
  S213: "Exists already.",
  S214: "The folder is not empty.",
  S215: "Outside of `fs.host_root`, on `fs.denylist_paths`, through a dangling link, or not permitted by the operating system.",
  S216: "Other failure below: I/O, a program that cannot be started, a channel, an answer of the engine that makes no sense; or the call ran out of time.",
  S217: "Bad regular expression.",
  S218: "Larger than `fs.max_read_bytes`, `fs.max_write_bytes` or what one message on the bus can carry.",
};

/** The codes that a sandbox may answer with, by the family of the call (shell §10.3). */
export const forwardableCodes = {
  fs: "S001 S002 S003 S004 S200 S210 S211 S212 S213 S214 S215 S216 S217 S218 S219".split(" "),
  exec: "S001 S002 S003 S004 S100 S101 S102 S200 S210 S216 S300 S400".split(" "),
} as const satisfies Readonly<Record<string, readonly string[]>>;

/** What a sandbox answers when the program in it failed or its time was up (shell §10.1). */
export const sandboxFailure = "S200";

/** An error of `shell::*` on the wire; undefined for an unexpected one (shell §2.3). */
export function renderShellError(error: unknown): { text: string; code: string | undefined } | undefined {
  if (error instanceof PlainRefusal) return { text: error.message, code: undefined };
  if (error instanceof ForwardedRefusal) return coded(error.code, error.message);
  return error instanceof Refusal ? coded(shellCodes[error.reason], error.message) : undefined;
}

const coded = (code: string, message: string) => ({ text: JSON.stringify({ code, message }), code });
