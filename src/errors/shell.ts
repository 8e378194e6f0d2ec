/** Refusals that only `shell::*` has. Fixed phrases are those of shell §11.2. */
import { Refusal } from "../errors.ts";
import { type StartProblem, startProblems } from "./start-problems.ts";

/** A refusal of another worker, passed on with the code that it gave. */
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

  badEngineResponse: (functionId: string, problem: string): Refusal =>
    new Refusal(
      "io",
      `bad engine response: the answer of ${functionId} ${problem}; the sandbox worker is of another version, or failed: try again, and if it goes on, tell the operator.`,
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
