/**
 * Why a program could not be started. "missing": the program, its interpreter or the working folder is not there.
 * "not-executable": no permission, a folder, or nothing this machine can run. "too-long": more arguments than the
 * operating system takes. "null-character": in an argument, where C ends a text. "exhausted": no descriptors,
 * processes or memory left; later it may work. "stopping": the worker is ending.
 */
export type StartProblem =
  | "missing"
  | "not-executable"
  | "too-long"
  | "null-character"
  | "exhausted"
  | "stopping";

/** A program that did not start. Functions answer it in different forms, so its sentence is made where it is answered. */
export class StartFailure extends Error {
  override readonly name = "StartFailure";
  readonly problem: StartProblem;

  constructor(problem: StartProblem) {
    super(problem);
    this.problem = problem;
  }
}
