import type { Connection } from "./connection.ts";

/** Something a worker registered. */
export interface Entry<Value> {
  readonly owner: Connection;
  readonly value: Value;
}

/** Registrations of one kind. The last one of an id wins, and none outlives the connection of its owner. */
export class Owned<Value extends { id: string }> {
  readonly #entries = new Map<string, Entry<Value>>();

  put(owner: Connection, value: Value): void {
    this.#entries.set(value.id, { owner, value });
  }

  get(id: string): Entry<Value> | undefined {
    return this.#entries.get(id);
  }

  /** Removes an entry if it still belongs to `owner`, and returns it. */
  remove(owner: Connection, id: string): Entry<Value> | undefined {
    const entry = this.#entries.get(id);
    if (entry?.owner !== owner) return undefined;
    this.#entries.delete(id);
    return entry;
  }

  /** Removes and returns all entries of `owner`. */
  removeAll(owner: Connection): Entry<Value>[] {
    const removed = this.list(owner);
    for (const { value } of removed) this.#entries.delete(value.id);
    return removed;
  }

  /** All entries, or those of one owner, sorted by id. */
  list(owner?: Connection): Entry<Value>[] {
    const entries = [...this.#entries.values()].filter(
      (entry) => owner === undefined || entry.owner === owner,
    );
    return entries.sort((a, b) => (a.value.id < b.value.id ? -1 : 1));
  }
}
