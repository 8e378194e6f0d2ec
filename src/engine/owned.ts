import type { WorkerConnection } from "./connection.ts";

/** An item that a worker registered. */
export interface OwnedEntry<Value> {
  readonly owner: WorkerConnection;
  readonly value: Value;
}

/**
 * The registrations of one kind. The last one of an id wins, and each ends with the connection of its owner.
 */
export class Owned<Value extends { id: string }> {
  readonly #entries = new Map<string, OwnedEntry<Value>>();

  put(owner: WorkerConnection, value: Value): void {
    this.#entries.set(value.id, { owner, value });
  }

  get(id: string): OwnedEntry<Value> | undefined {
    return this.#entries.get(id);
  }

  /** Removes an entry if it still belongs to `owner`, and returns it. */
  remove(owner: WorkerConnection, id: string): OwnedEntry<Value> | undefined {
    const entry = this.#entries.get(id);
    if (entry?.owner !== owner) return undefined;
    this.#entries.delete(id);
    return entry;
  }

  /** Removes and returns all entries of `owner`. */
  removeAll(owner: WorkerConnection): OwnedEntry<Value>[] {
    const removed = this.list(owner);
    for (const { value } of removed) this.#entries.delete(value.id);
    return removed;
  }

  /** Returns all entries, or those of one owner, sorted by id. */
  list(owner?: WorkerConnection): OwnedEntry<Value>[] {
    const entries = [...this.#entries.values()].filter(
      (entry) => owner === undefined || entry.owner === owner,
    );
    return entries.sort((a, b) => (a.value.id < b.value.id ? -1 : 1));
  }
}
