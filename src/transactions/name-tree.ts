/**
 * Where the entries of a transaction are after each of its steps. A place is a name in a folder that is an entry itself, so
 * moving a folder changes nothing for what is in it.
 */
import type { RecordedEntry } from "./record.ts";

/** What of a step decides who has which name. */
export type NamedStep =
  | { readonly kind: "place" | "exchange" | "set-aside"; readonly path: string; readonly temporary: string }
  | { readonly kind: "rename"; readonly from: string; readonly to: string }
  | { readonly kind: "chmod"; readonly path: string };

/** A name that an entry has from a step on, counted in steps done, until its next one. */
export interface NamePlace {
  readonly since: number;
  readonly folder: NamedEntry;
  readonly name: string;
}

/** An entry on disk: one that a step names, or a folder on the way to one. */
export class NamedEntry {
  /** Its entries at the moment, by name: those that are known. */
  readonly inside = new Map<string, NamedEntry>();
  /** In order; none for the base. */
  readonly places: NamePlace[] = [];
  /** What it is recognised by; undefined for a folder on the way, which no step moves. */
  recorded: RecordedEntry | undefined;

  /** Its path when that many steps are done. */
  pathAfter(steps: number): string {
    const place = this.placeAfter(steps);
    if (place === undefined) return "";
    const outer = place.folder.pathAfter(steps);
    return outer === "" ? place.name : `${outer}/${place.name}`;
  }

  placeAfter(steps: number): NamePlace | undefined {
    return this.places.findLast(({ since }) => since <= steps);
  }
}

/** The entries that a step is about. */
export interface NamedEntries {
  /** The folder of its path, or of its new one. */
  readonly folder: NamedEntry;
  /** What lay staged. */
  readonly staged?: NamedEntry;
  /** What was there. */
  readonly entry?: NamedEntry;
}

/** The names as they are after the steps that were applied. */
export class NameTree {
  readonly base = new NamedEntry();
  /** Names that a step took away, and that taking it back needs. */
  readonly vacated: { readonly folder: NamedEntry; readonly name: string }[] = [];
  #steps = 0;

  /** Applies the next step. Throws when it contradicts those before it. */
  apply(step: NamedStep): NamedEntries {
    const { folder, name } = this.#locate(step.kind === "rename" ? step.to : step.path);
    const done = this.#applyAt(step, { folder, name });
    this.#steps++;
    return done;
  }

  #applyAt(step: NamedStep, { folder, name }: Located): NamedEntries {
    if (step.kind === "chmod") return { folder, entry: this.#entryAt(folder, name) };
    if (step.kind === "rename") {
      const from = this.#locate(step.from);
      const entry = this.#entryAt(from.folder, from.name);
      this.#move(entry, from, { folder, name });
      return { folder, entry };
    }
    const { kind, temporary } = step;
    const entry = kind === "place" ? undefined : this.#entryAt(folder, name);
    const staged = kind === "set-aside" ? undefined : this.#entryAt(folder, temporary);
    if (entry !== undefined) this.#move(entry, { folder, name }, { folder, name: temporary });
    if (staged !== undefined) {
      if (entry === undefined) folder.inside.delete(temporary);
      this.#give(staged, { folder, name });
    }
    return { folder, ...(staged && { staged }), ...(entry && { entry }) };
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
