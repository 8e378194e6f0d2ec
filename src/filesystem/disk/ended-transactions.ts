/** Maximum ids that are kept. */
const maxKept = 256;

/**
 * The most recent transactions of this process that have ended. If another program moves a folder during a
 * transaction, temporary entries stay in it. The sweep may remove them although their maker still runs.
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
