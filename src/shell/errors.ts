/** Refusals of `shell::*`, and their form on the wire. Fixed phrases are those of shell §11.2. */
import { type Reason, Refusal } from "../base/errors.ts";
import { PlainRefusal } from "./programs/plain-refusal.ts";
import { type StartProblem, startProblems } from "./programs/start-problems.ts";

/** A refusal of another worker, passed on with its code. */
export class ForwardedRefusal extends Error {
  override readonly name = "ForwardedRefusal";
  readonly code: string;

  constructor(code: string, message: string) {
    super(message);
    this.code = code;
  }
}

export const refuseShell = {
  /** A payload of `shell::fs::<op>` that does not fit; `problem` is a `Mismatch`'s. */
  badPayload: (op: string, field: string, problem: string): Refusal =>
    new Refusal(
      "bad-input",
      `bad ${op} payload: ${field === "" ? "the payload" : `the field ${field}`} ${problem}.`,
    ),

  sandboxDisabled: (): Refusal =>
    new Refusal(
      "bad-input",
      'The sandbox target is disabled in this worker (sandbox.enabled is false); leave "target" out to run on the host.',
    ),

  /** The call did not come over the bus, so there is no way to other workers and no channels. */
  noBus: (what: string): Refusal =>
    new Refusal(
      "io",
      `There is no bus here, and ${what} needs one: this call runs inside the worker's own process; make it through an iii engine (--url).`,
    ),

  /** The engine made no channel for the output of a command. */
  noChannel: (): Refusal =>
    new Refusal("io", "The engine makes no channel for the output now; try again, or leave out 'output'."),

  /** A pattern for the lines of an output. */
  slowPattern: (pattern: string, milliseconds: number): Refusal =>
    new Refusal(
      "bad-pattern",
      `The pattern ${JSON.stringify(pattern.slice(0, 200))} takes more than ${milliseconds} ms for a line of this output. Send a simpler one, without large counts of repetitions.`,
    ),

  badEngineResponse: (functionId: string, problem: string): Refusal =>
    new Refusal(
      "io",
      `bad engine response: the answer of ${functionId} ${problem}; the sandbox worker is of another version, or failed. Try again; if it fails again, tell the user.`,
    ),

  /** `shell::exec` could not start a program (shell §6.5). */
  notStarted: (problem: StartProblem): Refusal =>
    new Refusal("io", `host exec: spawn: ${startProblems[problem]}.`),

  /** `how` says where the code was found: "" or "(wrapped)", in the message of another error. */
  forwarded: (code: string, how: string, message: string): ForwardedRefusal => {
    const line = message
      .slice(0, 2000)
      .toWellFormed()
      .replaceAll(/\s*\n\s*/g, " ");
    return new ForwardedRefusal(code, `forwarded from engine${how === "" ? "" : ` ${how}`}: ${line}`);
  },
} as const;

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
};

/** What each code means to a caller of `shell::*`. */
export const shellMeanings: Readonly<Record<string, string>> = {
  S210: "Bad request: malformed `fs` payload, unknown field (with `unknown_fields: refuse`), relative path, bad mode, a folder where `recursive` is false, the sandbox target while it is disabled.",
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

/** The code of a sandbox whose program failed or timed out (shell §10.1). */
export const sandboxFailure = "S200";

/** An error of `shell::*` on the wire; undefined for an unexpected one (shell §2.3). */
export function renderShellError(error: unknown): { text: string; code: string | undefined } | undefined {
  if (error instanceof PlainRefusal) return { text: error.message, code: undefined };
  if (error instanceof ForwardedRefusal) return coded(error.code, error.message);
  if (!(error instanceof Refusal)) return undefined;
  const { reason, message, details } = error;
  return reason === "unknown-field"
    ? coded(shellCodes[reason], message, { reason: "unknown_field", details })
    : coded(shellCodes[reason], message);
}

/** Only what came after shell 0.3.5 has more than a code and a message. */
const coded = (code: string, message: string, later: object = {}) => ({
  text: JSON.stringify({ code, message, ...later }),
  code,
});
