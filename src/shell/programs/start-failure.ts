import type { StartProblem } from "./start-problems.ts";

/** A program did not start. Functions report that in different forms, so they make the sentence. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly problem: StartProblem;

  constructor(problem: StartProblem) {
    super(problem);
    this.problem = problem;
  }
}
