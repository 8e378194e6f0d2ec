/** Runs commands on the host (shell §6.5). */

import type { Program } from "../processes/program.ts";
import type { SpawnOptions } from "../processes/start.ts";
import { StartFailure } from "../processes/start-failure.ts";
import type { StartProblem } from "../processes/start-problems.ts";
import type { Argv } from "../processes/words.ts";
import type { ShellContext } from "./define.ts";

/** Admits the program of a command. Throws a plain refusal, or a `StartFailure` when it is missing. */
export function admitProgram(
  argv: Argv,
  { policy }: Pick<ShellContext, "policy">,
  { folder, environment }: SpawnOptions,
): Program {
  return policy.admit(argv, { folder, path: environment["PATH"] });
}

/** Returns the result of `start`; converts a `StartFailure` by `refuse`. */
export async function refusingStart<T>(
  refuse: (problem: StartProblem) => Error,
  start: () => Promise<T>,
): Promise<T> {
  try {
    return await start();
  } catch (error) {
    throw error instanceof StartFailure ? refuse(error.problem) : error;
  }
}
