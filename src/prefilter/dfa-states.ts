/** States of a DFA under construction. */

/** The engine alone matches larger patterns. */
export const maxStates = 128;
/** Visits of NFA nodes during the subset construction: a few milliseconds of work. */
export const maxVisits = 20_000;

/** The states that were met so far, each once. */
export class DfaStates<State> {
  readonly all: State[] = [];
  readonly #indices = new Map<string, number>();
  readonly #keyOf: (state: State) => string;

  /** `keyOf`: the same for the same state alone. */
  constructor(keyOf: (state: State) => string) {
    this.#keyOf = keyOf;
  }

  /** The index of the state, which is added unless it was met before. */
  index(state: State): number {
    const key = this.#keyOf(state);
    const found = this.#indices.get(key) ?? this.all.push(state) - 1;
    this.#indices.set(key, found);
    return found;
  }
}
