interface Run<T> {
  calls: number;
  readonly result: Promise<T>;
}

/**
 * Does the same work repeatedly, once at a time. All calls that wait for the next run share it; one that has
 * begun may have read a state from before the call.
 */
export class SharedRuns<T> {
  readonly #work: (calls: number) => Promise<T>;
  #next: Run<T> | undefined;
  #ended: Promise<unknown> = Promise.resolve();

  /** `work` gets the number of calls that share its result. */
  constructor(work: (calls: number) => Promise<T>) {
    this.#work = work;
  }

  join(): Promise<T> {
    this.#next ??= this.#schedule();
    this.#next.calls++;
    return this.#next.result;
  }

  #schedule(): Run<T> {
    const run: Run<T> = {
      calls: 0,
      result: this.#ended.then(() => {
        this.#next = undefined;
        return this.#work(run.calls);
      }),
    };
    this.#ended = run.result.catch(() => {});
    return run;
  }
}
