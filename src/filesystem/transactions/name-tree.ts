/**
 * Tracks the entries of a transaction after each of its steps. A place is a name in a folder that is an entry
 * itself, so moving a folder does not affect its entries.
 */
import type { RecordedEntry } from "./record.ts";

/** The part of a step that determines names. */
export type NamedStep =
  | { readonly kind: "place" | "exchange" | "set-aside"; readonly path: string; readonly temporary: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "chmod"; readonly path: string };

/** A name that an entry has after `since` steps, until its next one. */
export interface NameSince {
  readonly since: number;
  readonly folder: NamedEntry;
  readonly name: string;
}

/** An entry on disk: one that a step names, or a folder on the way to one. */
export class NamedEntry {
  /** The map of `inside`, which a file never needs. */
  #inside: Map<string, NamedEntry> | undefined;
  /** Its places in order; none for the base. */
  readonly places: NameSince[] = [];
  /** The record that identifies it, or `undefined` for a folder on the way, which no step moves. */
  recorded: RecordedEntry | undefined;

  /** Its current known entries, by name. */
  get inside(): Map<string, NamedEntry> {
    this.#inside ??= new Map();
    return this.#inside;
  }

  /** Returns its path after that many steps. */
  pathAfter(steps: number): string {
    const place = this.placeAfter(steps);
    if (place === undefined) return "";
    const outer = place.folder.pathAfter(steps);
    return outer === "" ? place.name : `${outer}/${place.name}`;
  }

  placeAfter(steps: number): NameSince | undefined {
    return this.places.findLast(({ since }) => since <= steps);
  }
}

/** The entries that a step affects. */
export interface NamedEntries {
  /** The folder of its path, or of its new one. */
  readonly folder: NamedEntry;
  /** The entry that was staged, if any. */
  readonly staged: NamedEntry | undefined;
  /** The entry that was there before, if any. */
  readonly entry: NamedEntry | undefined;
}

/** The names after all applied steps. */
export class NameTree {
  readonly base = new NamedEntry();
  /** The names that a step vacated, and that its rollback needs. */
  readonly vacated: { readonly folder: NamedEntry; readonly name: string }[] = [];
  #steps = 0;

  /** Applies the next step. Throws if it contradicts the previous ones. */
  apply(step: NamedStep): NamedEntries {
    const { folder, name } = this.#locate(step.kind === "rename" ? step.to : step.path);
    const done = this.#applyAt(step, { folder, name });
    this.#steps++;
    return done;
  }

  #applyAt(step: NamedStep, { folder, name }: Located): NamedEntries {
    if (step.kind === "chmod") return { folder, staged: undefined, entry: this.#entryAt(folder, name) };
    if (step.kind === "rename") {
      const from = this.#locate(step.from);
      const entry = this.#entryAt(from.folder, from.name);
      this.#move(entry, from, { folder, name });
      return { folder, staged: undefined, entry };
    }
    const { kind, temporary } = step;
    const entry = kind === "place" ? undefined : this.#entryAt(folder, name);
    const staged = kind === "set-aside" ? undefined : this.#entryAt(folder, temporary);
    if (entry !== undefined) this.#move(entry, { folder, name }, { folder, name: temporary });
    if (staged !== undefined) {
      if (entry === undefined) folder.inside.delete(temporary);
      this.#give(staged, { folder, name });
    }
    return { folder, staged, entry };
  }

  #locate(path: string): Located {
    const names = path.split("/");
    const name = names.pop()!;
    let folder = this.base;
    for (const outer of names) folder = this.#entryAt(folder, outer);
    return { folder, name };
  }

  #entryAt(folder: NamedEntry, name: string): NamedEntry {
    const known = folder.inside.get(name);
    if (known !== undefined) return known;
    const entry = new NamedEntry();
    entry.places.push({ since: 0, folder, name });
    folder.inside.set(name, entry);
    return entry;
  }

  #move(entry: NamedEntry, from: Located, to: Located): void {
    from.folder.inside.delete(from.name);
    this.vacated.push(from);
    this.#give(entry, to);
  }

  #give(entry: NamedEntry, { folder, name }: Located): void {
    entry.places.push({ since: this.#steps + 1, folder, name });
    folder.inside.set(name, entry);
  }
}

interface Located {
  readonly folder: NamedEntry;
  readonly name: string;
}
