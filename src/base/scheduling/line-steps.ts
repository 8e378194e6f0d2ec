/** Bytes that are compared in a step, which takes a millisecond or two. */
const bytesPerStep = 1024 * 1024;

/** Bytes that take as long as the work on each line besides. */
const bytesOfLine = 64;

/** Divides work on lines into steps that take about as long, whether the lines are short or long. */
export class LineSteps {
  #bytes = 0;

  /** Counts a line, and some of its bytes. Returns whether a step is used up, and then begins the next. */
  isDueAfter(bytes: number): boolean {
    this.#bytes += bytes + bytesOfLine;
    if (this.#bytes < bytesPerStep) return false;
    this.#bytes = 0;
    return true;
  }
}
