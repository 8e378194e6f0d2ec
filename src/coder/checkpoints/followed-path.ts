import type { Pause, RecordedStep } from "../../filesystem/journal/read-record.ts";
import { levelsOf, type StepNames, selectPaths } from "./recorded-paths.ts";

interface Followed {
  readonly steps: readonly (StepNames & Pick<RecordedStep, "kind">)[];
}

/** A path in the form of records, and its earlier names in the records followed so far. */
export class FollowedPath {
  readonly #names = new Set<string>();
  /** The names at each path, and below it. */
  readonly #inside = new Map<string, string[]>();

  constructor(path: string) {
    this.#add(path);
  }

  /** Returns whether a change begins or ends at the path, or below it. */
  readonly selects = selectPaths(this.#names);

  /** Adds the names before the renames of a record, calling `pause` after each. */
  async follow({ steps }: Followed, pause: Pause): Promise<void> {
    for (const { kind, path, from } of steps.toReversed()) {
      if (kind === "rename" && from !== undefined)
        for (const name of [...(this.#inside.get(path) ?? [])]) {
          this.#add(from + name.slice(path.length));
          await pause();
        }
      await pause();
    }
  }

  #add(name: string): void {
    if (this.#names.has(name)) return;
    this.#names.add(name);
    for (const level of levelsOf(name)) {
      const inside = this.#inside.get(level);
      if (inside === undefined) this.#inside.set(level, [name]);
      else inside.push(name);
    }
  }
}
