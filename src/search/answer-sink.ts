import type { SearchAnswerBuilder } from "./answer.ts";
import type { Finding, FindingSink } from "./files.ts";

/** Passes findings on, and takes as many as an answer does. */
export class AnswerSink implements FindingSink {
  readonly #answer: SearchAnswerBuilder;
  readonly add: (finding: Finding) => void;

  constructor(answer: SearchAnswerBuilder, add: (finding: Finding) => void) {
    this.#answer = answer;
    this.add = add;
  }

  get wantsPaths(): boolean {
    return this.#answer.wantsPaths;
  }

  get wantsContent(): boolean {
    return this.#answer.wantsContent;
  }

  get remainingEntries(): number {
    return this.#answer.remainingEntries;
  }

  get remainingUnits(): number {
    return this.#answer.remainingUnits;
  }
}
