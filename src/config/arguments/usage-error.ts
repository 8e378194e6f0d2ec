import type { WorkerName } from "../../base/about.ts";

/** Thrown for an invalid command line. The message is one line that names the flag. */
export class UsageError extends Error {
  override readonly name = "UsageError";
}

/** Thrown for a first word that is neither a command nor similar to one. It may be the name of a function. */
export class UnknownCommand extends UsageError {
  readonly word: string;
  readonly worker: WorkerName;
  readonly #program: string;

  constructor(word: string, worker: WorkerName, program: string) {
    super(
      `${JSON.stringify(word)} is not a command of ${program}; call a function with ${program} call FUNCTION (see ${program} --help)`,
    );
    this.word = word;
    this.worker = worker;
    this.#program = program;
  }

  /** Returns the error that names the function which was meant. */
  withFunction(name: string): UsageError {
    const program = this.#program;
    return new UsageError(
      `${JSON.stringify(this.word)} is not a command of ${program}; did you mean ${program} call ${name}? (see ${program} call ${name} --help)`,
    );
  }
}
