/** Runs commands on the host (shell §6.5). */

import type { ShellContext } from "./define.ts";
import type { Program } from "./programs/program.ts";
import type { SpawnOptions } from "./programs/start.ts";
import { StartFailure } from "./programs/start-failure.ts";
import type { StartProblem } from "./programs/start-problems.ts";
import type { Argv } from "./programs/words.ts";

/** Admits the program of a command. Throws a plain refusal, or a `StartFailure` if it is missing. */
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
