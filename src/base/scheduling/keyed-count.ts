/** Counts an amount in total and under each key. A key under which nothing is left takes no memory. */
export class KeyedCount {
  readonly #byKey = new Map<string | undefined, number>();
  #total = 0;

  /** The amount under all keys together. */
  get total(): number {
    return this.#total;
  }

  /** Returns the amount under one key. */
  under(key: string | undefined): number {
    return this.#byKey.get(key) ?? 0;
  }

  /** Adds an amount under a key; a negative one gives back. */
  add(key: string | undefined, amount: number): void {
    this.#total += amount;
    const held = this.under(key) + amount;
    if (held === 0) this.#byKey.delete(key);
    else this.#byKey.set(key, held);
  }
}
