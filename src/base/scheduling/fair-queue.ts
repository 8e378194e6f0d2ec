/** An entry of a `FairQueue`, and its request. */
export interface Waiter<T> {
  readonly key: string | undefined;
  readonly request: T;
  readonly resolve: () => void;
}

/** A queue with keys. The keys take turns, and under one key the oldest entry comes first. */
export class FairQueue<T = undefined> {
  /** The entries by key, in the order of the keys' turns. */
  readonly #lines = new Map<string | undefined, Set<Waiter<T>>>();
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the number of entries under one key. */
  sizeOf(key: string | undefined): number {
    return this.#lines.get(key)?.size ?? 0;
  }

  /**
   * Adds an entry, and resolves when it is admitted. If the signal aborts first, it removes the entry and
   * rejects with the signal's reason.
   */
  async wait(key: string | undefined, request: T, signal: AbortSignal | undefined): Promise<void> {
    signal?.throwIfAborted();
    await new Promise<void>((resolve, reject) => {
      const leave = () => {
        this.#remove(waiter);
        reject(signal?.reason);
      };
      const waiter: Waiter<T> = {
        key,
        request,
        resolve() {
          signal?.removeEventListener("abort", leave);
          resolve();
        },
      };
      signal?.addEventListener("abort", leave, { once: true });
      this.#add(waiter);
    });
  }

  /** Yields the oldest entry under each key, in the order of the keys' turns. */
  *oldest(): Generator<Waiter<T>, void, void> {
    for (const [first] of this.#lines.values()) yield first!;
  }

  /** Resolves an entry, and moves its key to the end. */
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
