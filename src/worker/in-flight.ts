/** Milliseconds that a stop waits for calls in flight, by default. */
const drainMilliseconds = 5000;

/** Tracks the calls in flight, so that a stop loses no answer. */
export class InFlight {
  readonly #calls = new Set<Promise<unknown>>();

  /** Counts `call` until it has settled, and returns it. */
  add<T>(call: Promise<T>): Promise<T> {
    this.#calls.add(call);
    void call.catch(() => {}).finally(() => this.#calls.delete(call));
    return call;
  }

  /**
   * Resolves when no call is in flight, or after `milliseconds`, by default 5 s; then one turn of the event loop later,
   * because an SDK writes a result to its socket some microtasks after the call's promise has resolved.
   */
  async settled(milliseconds = drainMilliseconds): Promise<void> {
    let timer: ReturnType<typeof setTimeout> | undefined;
    const enough = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, milliseconds);
    });
    await Promise.race([Promise.allSettled(this.#calls), enough]);
    clearTimeout(timer);
    await new Promise((resolve) => setTimeout(resolve, 0));
  }
}
