import type { CharClasses } from "./char-classes.ts";
import type { Nfa } from "./nfa.ts";

/** The states that an automaton is in at once, one bit each. */
export type StateSet = Uint32Array<ArrayBuffer>;

/**
 * Performs steps of an automaton without a cache. It has to be fast by itself: hostile globs reach a new
 * combination of states with every character of a path, and each may hold thousands of states.
 */
export class NfaSimulator {
  readonly #automaton: Nfa;
  readonly #alphabet: CharClasses;
  readonly #words: number;
  /** The next state of each state that reads a character. */
  readonly #next: Uint32Array;
  /** The next states of each state that reads none; `undefined` for the others. */
  readonly #forks: readonly (readonly number[] | undefined)[];
  /** All states but the forks, which matter only until they are followed. */
  readonly #kept: StateSet;
  /** For each symbol, the states that read it, computed on first use. */
  readonly #takers: (StateSet | undefined)[] = [];
  readonly #toFollow: Uint32Array;

  constructor(automaton: Nfa, alphabet: CharClasses) {
    const { states } = automaton;
    this.#automaton = automaton;
    this.#alphabet = alphabet;
    this.#words = Math.ceil(states.length / 32);
    this.#next = Uint32Array.from(states, (state) => ("ranges" in state ? state.next : 0));
    this.#forks = states.map((state) => ("fork" in state ? state.fork : undefined));
    this.#kept = this.#combine((name) => name < automaton.accepts || "ranges" in states[name]!);
    this.#toFollow = new Uint32Array(1 + this.#forks.reduce((sum, fork) => sum + (fork?.length ?? 0), 0));
  }

  /** Returns an empty set, which cannot lead to a match. */
  none(): StateSet {
    return new Uint32Array(this.#words);
  }

  /** Returns the states before the first character. */
  start(): StateSet {
    const reached = this.none();
    this.#enter(this.#automaton.start, reached);
    return this.#keep(reached);
  }

  /** Returns the states after a character of the symbol. */
  after(combination: StateSet, symbol: number): StateSet {
    const takers = this.#takersOf(symbol);
    const reached = this.none();
    for (let word = 0; word < this.#words; word++) {
      for (let bits = combination[word]! & takers[word]!; bits !== 0; bits &= bits - 1) {
        this.#enter(this.#next[word * 32 + 31 - Math.clz32(bits & -bits)]!, reached);
      }
    }
    return this.#keep(reached);
  }

  /** Adds the state, and those that it reaches without reading a character. */
  #enter(state: number, reached: StateSet): void {
    const toFollow = this.#toFollow;
    toFollow[0] = state;
    for (let left = 1; left > 0; ) {
      const name = toFollow[--left]!;
      const bit = 1 << (name & 31);
      if ((reached[name >>> 5]! & bit) !== 0) continue;
      reached[name >>> 5]! |= bit;
      const fork = this.#forks[name];
      if (fork !== undefined) for (const target of fork) toFollow[left++] = target;
    }
  }

  #keep(reached: StateSet): StateSet {
    for (let word = 0; word < this.#words; word++) reached[word]! &= this.#kept[word]!;
    return reached;
  }

  #takersOf(symbol: number): StateSet {
    this.#takers[symbol] ??= this.#findTakers(this.#alphabet.representatives[symbol]!);
    return this.#takers[symbol];
  }

  #findTakers(character: number): StateSet {
    const { states } = this.#automaton;
    return this.#combine((name) => {
      const state = states[name]!;
      return "ranges" in state && state.ranges.some(({ from, to }) => from <= character && character <= to);
    });
  }

  #combine(holds: (name: number) => boolean): StateSet {
    const combination = this.none();
    for (let name = 0; name < this.#automaton.states.length; name++) {
      if (holds(name)) combination[name >>> 5]! |= 1 << (name & 31);
    }
    return combination;
  }
}
