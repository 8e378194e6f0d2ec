import type { WorkerConnection } from "./connection.ts";

/** The namespace of everything that names no other. An engine of 0.22 has only this one. */
export const defaultNamespace = "default";

/** An item that a worker registered. */
export interface OwnedEntry<Value> {
  readonly owner: WorkerConnection;
  readonly value: Value;
  readonly namespace: string;
}

/**
 * The registrations of one kind. The last one of an id in a namespace wins, and each ends with the connection
 * of its owner.
 */
export class Owned<Value extends { id: string }> {
  readonly #entries = new Map<string, OwnedEntry<Value>>();

  put(owner: WorkerConnection, value: Value, namespace = defaultNamespace): void {
    this.#entries.set(keyOf(namespace, value.id), { owner, value, namespace });
  }

  get(id: string, namespace = defaultNamespace): OwnedEntry<Value> | undefined {
    return this.#entries.get(keyOf(namespace, id));
  }

  /** Removes an entry if it still belongs to `owner`, and returns it. */
  remove(owner: WorkerConnection, id: string, namespace = defaultNamespace): OwnedEntry<Value> | undefined {
    const entry = this.get(id, namespace);
    if (entry?.owner !== owner) return undefined;
    this.#entries.delete(keyOf(namespace, id));
    return entry;
  }

  /** Removes and returns all entries of `owner`. */
  removeAll(owner: WorkerConnection): OwnedEntry<Value>[] {
    const removed = this.list(owner);
    for (const { value, namespace } of removed) this.#entries.delete(keyOf(namespace, value.id));
    return removed;
  }

  /** Returns all entries, or those of one owner, sorted by id. */
  list(owner?: WorkerConnection): OwnedEntry<Value>[] {
    const entries = [...this.#entries.values()].filter(
      (entry) => owner === undefined || entry.owner === owner,
    );
    return entries.sort((a, b) => (a.value.id < b.value.id ? -1 : 1));
  }

  /** Returns the namespaces in which an id is registered. */
  namespacesOf(id: string): string[] {
    return [...this.#entries.values()]
      .filter(({ value }) => value.id === id)
      .map(({ namespace }) => namespace);
  }
}

const keyOf = (namespace: string, id: string): string => `${namespace}\0${id}`;
