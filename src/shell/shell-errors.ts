/** The refusals of `shell::*` alone. Fixed phrases are those of shell §11.2. */
import { Refusal } from "../base/errors.ts";
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

  noFsScope: (id: string): Refusal =>
    new Refusal(
      "bad-input",
      `The function ${id} cannot be held to a part of the tree, so it takes \`fs_scope\` of sessions only, with the \`boundary\` "workspace" or "configured_roots". Nothing was done. Leave the field out, or call a function that takes a path.`,
    ),

  /** A scope of a call to a sandbox, whose files are not those of this worker. */
  noScopeInSandbox: (): Refusal =>
    new Refusal(
      "bad-input",
      "The field `fs_scope` limits calls on the host, and not those with the sandbox target. Nothing was done. Leave one of the two out.",
    ),

  badScope: (field: string, problem: string): Refusal =>
    new Refusal("bad-input", `The field fs_scope${field === "" ? "" : `.${field}`} ${problem}.`),

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
