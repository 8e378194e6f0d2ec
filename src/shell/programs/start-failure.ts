import type { StartProblem } from "./start-problems.ts";

/** The failure to start a program. Functions report it in different forms, so each makes its own sentence. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly problem: StartProblem;

  constructor(problem: StartProblem) {
    super(problem);
    this.problem = problem;
  }
}
