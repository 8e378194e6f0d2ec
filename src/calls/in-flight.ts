/** The default milliseconds without the end of a call after which a stop no longer waits. */
const drainMilliseconds = 5000;

/** Tracks the calls in flight, so that a stop loses no answer. */
export class InFlight {
  readonly #calls = new Set<Promise<unknown>>();
  /** Called when the next call has settled. */
  readonly #waiting = new Set<() => void>();

  get size(): number {
    return this.#calls.size;
  }

  /** Counts `call` until it has settled, and returns it. */
  add<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    void call.catch(() => {}).finally(() => this.#end(call));
    return call;
  }

  #end(call: Promise<unknown>): void {
    this.#calls.delete(call);
    for (const resume of this.#waiting) resume();
    this.#waiting.clear();
  }

  /**
   * Resolves when no call is in flight, or when none has ended for `milliseconds`, by default 5 s. Before it
   * does, it waits one turn of the event loop, because an SDK writes a result to its socket some microtasks
   * after the call's promise has resolved, and then for calls and renderings that have begun in that turn.
   */
  async settled(milliseconds = drainMilliseconds): Promise<void> {
    let isWaiting = true;
    do {
      while (isWaiting && this.#calls.size > 0) isWaiting = await this.#nextEnd(milliseconds);
      await new Promise((resolve) => setTimeout(resolve, 0));
    } while (isWaiting && this.#calls.size > 0);
  }

  /** Resolves to true when a call ends, or to false after `milliseconds`. */
  #nextEnd(milliseconds: number): Promise<boolean> {
    return new Promise((resolve) => {
      const isEndless = milliseconds === Number.POSITIVE_INFINITY;
      const timer = isEndless ? undefined : setTimeout(() => resolve(false), milliseconds);
      this.#waiting.add(() => {
        clearTimeout(timer);
        resolve(true);
      });
    });
  }
}
