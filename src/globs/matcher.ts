import { Alphabet } from "./alphabet.ts";
import { type Automaton, accept } from "./automaton.ts";

/** The states the automaton is in at once, ascending. Sixteen bits do: a set makes at most some 20,000 states. */
type Combination = Uint16Array<ArrayBuffer>;

/** Cells of a matcher's table: 256 KiB, which is some 2,500 rows for globs as people write them. */
const tableCells = 65_536;
/** With very many symbols the table is larger, so that a path does not come to its end in every step. */
const minRows = 16;
/** How many states the remembered combinations may hold together: about 2 MiB. */
const maxRemembered = 250_000;

/**
 * Runs an automaton over paths, and remembers every combination of states it comes to as a row of a table, which
 * has the next row for each symbol. So a path like those before it costs one look at the table per character,
 * however many globs there are, and a character that leads somewhere new costs at most a visit to every state.
 * When the table is full it is emptied and filled anew: no glob can make it grow, and none can make a path dear.
 */
export class Matcher {
  private readonly automaton: Automaton;
  private readonly alphabet: Alphabet;
  /**
   * Rows are named by the index of their first cell. A cell holds the row its symbol leads to, or 0 when that is
   * not known yet; after the symbols comes a cell that is 1 if the row accepts. The row at 0 is never used.
   */
  private readonly table: Int32Array;
  private readonly width: number;
  private readonly rows = new Map<string, number>();
  private readonly combinations = new Map<number, Combination>();
  private remembered = 0;
  private dead = 0;
  private start = 0;

  constructor(automaton: Automaton) {
    this.automaton = automaton;
    this.alphabet = new Alphabet(
      automaton.states.flatMap((state) => ("ranges" in state ? state.ranges : [])),
    );
    this.width = this.alphabet.representatives.length + 1;
    this.table = new Int32Array(Math.max(tableCells, minRows * this.width));
    this.begin();
  }

  /** Whether the automaton accepts the whole path. */
  matches(path: string): boolean {
    const { table, alphabet } = this;
    const { ascii } = alphabet;
    let row = this.start;
    for (let i = 0; i < path.length; i += 1) {
      const unit = path.charCodeAt(i);
      let symbol: number;
      if (unit < 128) {
        symbol = ascii[unit]!;
      } else {
        const character = path.codePointAt(i)!;
        if (character > 0xffff) i += 1;
        symbol = alphabet.symbolOf(character);
      }
      row = table[row + symbol]! || this.advance(row, symbol);
      if (row === this.dead) return false;
    }
    return table[row + this.width - 1] === 1;
  }

  private begin(): void {
    this.table.fill(0);
    this.rows.clear();
    this.combinations.clear();
    this.remembered = 0;
    this.dead = this.row(new Uint16Array());
    this.start = this.row(this.closure([this.automaton.start]));
  }

  private advance(row: number, symbol: number): number {
    const character = this.alphabet.representatives[symbol]!;
    const reached: number[] = [];
    for (const name of this.combinations.get(row)!) {
      const state = this.automaton.states[name]!;
      if (!("ranges" in state)) continue;
      if (state.ranges.some(({ from, to }) => from <= character && character <= to)) reached.push(state.next);
    }
    const combination = this.closure(reached);
    if (this.isFull()) {
      this.begin();
      return this.row(combination);
    }
    const next = this.row(combination);
    this.table[row + symbol] = next;
    return next;
  }

  /** These states and those they go on in without taking a character, less the forks, which have done their part. */
  private closure(states: readonly number[]): Combination {
    const reached = new Set(states);
    // A Set is iterated in insertion order, with what is added on the way: it is its own work list.
    for (const name of reached) {
      const state = this.automaton.states[name]!;
      if ("fork" in state) for (const target of state.fork) reached.add(target);
    }
    const remains = (name: number) => name === accept || "ranges" in this.automaton.states[name]!;
    return Uint16Array.from([...reached].filter(remains)).sort();
  }

  private isFull(): boolean {
    return (this.rows.size + 2) * this.width > this.table.length || this.remembered > maxRemembered;
  }

  private row(combination: Combination): number {
    const key = Buffer.from(combination.buffer).toString("latin1");
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const row = (this.rows.size + 1) * this.width;
    this.rows.set(key, row);
    this.combinations.set(row, combination);
    this.remembered += combination.length;
    if (combination[0] === accept) this.table[row + this.width - 1] = 1;
    return row;
  }
}
