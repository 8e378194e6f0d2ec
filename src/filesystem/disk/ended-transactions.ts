/** Maximum ids that are kept. */
const maxKept = 256;

/**
 * The last transactions of this process that have ended. A temporary entry of one is no longer in use,
 * although the process still runs: it is left if another program has moved its folder in the middle.
 */
export class EndedTransactions {
  readonly #ids = new Set<string>();

  add(id: string): void {
    this.#ids.add(id);
    const [oldest] = this.#ids;
    if (this.#ids.size > maxKept) this.#ids.delete(oldest!);
  }

  has(id: string): boolean {
    return this.#ids.has(id);
  }
}
