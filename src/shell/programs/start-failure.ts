import type { StartProblem } from "./start-problems.ts";

/** Thrown if a program cannot be started. Each function makes its own sentence from `problem`. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly problem: StartProblem;

  constructor(problem: StartProblem) {
    super(problem);
    this.problem = problem;
  }
}
