/** The states of a DFA under construction. */

/** Maximum states of a DFA. The engine alone matches larger patterns. */
export const maxStates = 128;
/** Maximum visits of NFA nodes during the subset construction, a few milliseconds of work. */
export const maxVisits = 20_000;

/** The distinct states met so far. */
export class DfaStates<State> {
  readonly all: State[] = [];
  readonly #indices = new Map<string, number>();
  readonly #keyOf: (state: State) => string;

  /** Creates an empty set. `keyOf` returns equal keys for equal states only. */
  constructor(keyOf: (state: State) => string) {
    this.#keyOf = keyOf;
  }

  /** Returns the index of the state, adding it if it is new. */
  index(state: State): number {
    const key = this.#keyOf(state);
    const found = this.#indices.get(key) ?? this.all.push(state) - 1;
    this.#indices.set(key, found);
    return found;
  }
}
