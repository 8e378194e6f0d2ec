/** The refusals of `shell::*` alone. Fixed phrases are those of shell §11.2. */
import { quoteShort, Refusal } from "../base/errors.ts";
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

const maxRoots = 10;

const listRoots = (names: readonly string[]): string =>
  [
    ...names.slice(0, maxRoots).map((name) => JSON.stringify(name)),
    ...(names.length > maxRoots ? [`one of ${names.length - maxRoots} more`] : []),
  ].join(" or ");

/** The roots that a command may start in. */
export interface StartRoots {
  readonly names: readonly string[];
  /** The folder without `cwd`, if any. */
  readonly byDefault: string | undefined;
}

/** Returns the end of a sentence on the value of `cwd`. */
const sayRoots = ({ names, byDefault }: StartRoots): string =>
  `${listRoots(names)}${byDefault === undefined ? "" : `; without \`cwd\` a command runs in ${JSON.stringify(byDefault)}`}.`;

export const refuseShell = {
  /**
   * Refuses a payload that does not fit the schema of `shell::fs::<op>`; `problem` comes from a `Mismatch`.
   */
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
      `The function ${id} cannot be limited to a part of the tree, so it takes \`fs_scope\` of sessions only, with the \`boundary\` "workspace" or "configured_roots". Nothing was done. Leave the field out, or call a function that takes a path.`,
    ),

  /** Refuses a scope in a call to a sandbox, whose files are not those of this worker. */
  noScopeInSandbox: (): Refusal =>
    new Refusal(
      "bad-input",
      "The field `fs_scope` limits calls on the host, and not those with the sandbox target. Nothing was done. Leave one of the two out.",
    ),

  badScope: (field: string, problem: string): Refusal =>
    new Refusal("bad-input", `The field fs_scope${field === "" ? "" : `.${field}`} ${problem}.`),

  /** Refuses a call that needs other workers or channels, but did not come over the bus. */
  noBus: (what: string): Refusal =>
    new Refusal(
      "io",
      `There is no bus here, and ${what} needs one: this call runs inside the worker's own process; make it through an iii engine (--url).`,
    ),

  /** Refuses a command because the engine created no channel for its output. */
  noChannel: (): Refusal =>
    new Refusal("io", "The engine makes no channel for the output now; try again, or leave out 'output'."),

  /** Refuses a pattern that takes too long on a line of the output. */
  slowPattern: (pattern: string, milliseconds: number): Refusal =>
    new Refusal(
      "bad-pattern",
      `The pattern ${JSON.stringify(pattern.slice(0, 200))} takes more than ${milliseconds} ms for a line of this output. Send a simpler one, without large counts of repetitions.`,
    ),

  largePattern: (pattern: string): Refusal =>
    new Refusal(
      "bad-pattern",
      `The pattern ${JSON.stringify(pattern.slice(0, 200))} takes too long to compile. Send a shorter one, with smaller counts of repetitions or with (?-u:\\w) in place of \\w, which has all letters of Unicode.`,
    ),

  badEngineResponse: (functionId: string, problem: string): Refusal =>
    new Refusal(
      "io",
      `bad engine response: the answer of ${functionId} ${problem}; the sandbox worker is of another version, or failed. Try again; if it fails again, tell the user.`,
    ),

  /** Refuses to start a command in a missing or denied folder, with one sentence for both. */
  noFolder: ({ reason, isBelowFile }: Refusal, cwd: string): Refusal =>
    new Refusal(
      reason,
      `${quoteShort(cwd)} is not found, or the configuration denies it. Nothing was run. Send a folder that exists as \`cwd\`, or leave \`cwd\` out.`,
      cwd,
      { isBelowFile },
    ),

  /**
   * Refuses to start a command in a folder of none of the roots. `isInRoot` says that the path begins with a
   * root, and leads out of it by a link.
   */
  inNoRoot: (
    { reason }: Refusal,
    cwd: string,
    { isInRoot, ...roots }: StartRoots & { readonly isInRoot: boolean },
  ): Refusal =>
    new Refusal(
      reason,
      `The \`cwd\` ${quoteShort(cwd)} ${isInRoot ? "goes through a link that leads nowhere, or to none of the roots" : "is in none of the roots"}. Nothing was run. Send a root, or a folder in one, as \`cwd\`: ${sayRoots(roots)}`,
      cwd,
    ),

  /** Refuses to start a command above several roots, in a folder that is on no disk. */
  topFolder: (cwd: string, roots: StartRoots): Refusal =>
    new Refusal(
      "bad-input",
      `The \`cwd\` ${quoteShort(cwd)} is the top folder, which holds only the roots and is on no disk, so no command runs in it. Nothing was run. Send a root as \`cwd\`: ${sayRoots(roots)}`,
    ),

  /** Refuses a program that `shell::exec` could not start (shell §6.5). */
  notStarted: (problem: StartProblem): Refusal =>
    new Refusal("io", `host exec: spawn: ${startProblems[problem]}.`),

  /**
   * Passes on a refusal. `how` says where its code was found: "" or "(wrapped)", in the message of another
   * error.
   */
  forwarded: (code: string, how: string, message: string): ForwardedRefusal => {
    const line = message
      .slice(0, 2000)
      .toWellFormed()
      .replaceAll(/\s*\n\s*/g, " ");
    return new ForwardedRefusal(code, `forwarded from engine${how === "" ? "" : ` ${how}`}: ${line}`);
  },
} as const;
