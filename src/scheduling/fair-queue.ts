/** One that waits in a `FairQueue`, and what for. */
export interface Waiter<T> {
  readonly key: string | undefined;
  readonly wish: T;
  readonly resolve: () => void;
}

/** Those who wait, by key: the keys take turns, and under one key the oldest comes first. */
export class FairQueue<T = undefined> {
  /** In the order in which the keys have their turns. */
  readonly #lines = new Map<string | undefined, Set<Waiter<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /**
   * Waits from now on, and resolves when admitted. Rejects with the signal's reason when it aborts first; then it waits
   * no longer.
   */
  async wait(key: string | undefined, wish: T, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter<T> = {
        key,
        wish,
        resolve() {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#add(waiter);
    });
  }

  /** The oldest under each key, in the order of the keys' turns. */
  *oldest(): Generator<Waiter<T>, void, void> {
    for (const [first] of this.#lines.values()) yield first!;
  }

  /** Lets one go on, and sends its key to the end. */
  admit(waiter: Waiter<T>): void {
    const line = this.#remove(waiter);
    if (line.size > 0) {
      this.#lines.delete(waiter.key);
      this.#lines.set(waiter.key, line);
    }
    waiter.resolve();
  }

  #add(waiter: Waiter<T>): void {
    const line = this.#lines.get(waiter.key) ?? new Set();
    this.#lines.set(waiter.key, line.add(waiter));
    this.#size++;
  }

  #remove(waiter: Waiter<T>): Set<Waiter<T>> {
    const line = this.#lines.get(waiter.key)!;
    line.delete(waiter);
    this.#size--;
    if (line.size === 0) this.#lines.delete(waiter.key);
    return line;
  }
}
