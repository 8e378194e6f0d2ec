import type { StartProblem } from "./start-problems.ts";

/** A program that did not start. Functions answer it in different forms, so its sentence is made where it is answered. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly problem: StartProblem;

  constructor(problem: StartProblem) {
    super(problem);
    this.problem = problem;
  }
}
