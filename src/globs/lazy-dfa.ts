import { CharClasses } from "./char-classes.ts";
import { accept, type Nfa } from "./nfa.ts";
import { NfaSimulator, type StateSet } from "./nfa-simulator.ts";

/** Cells of a matcher's table: 256 KiB, which is some 2,500 rows for globs as people write them. */
const tableCells = 65_536;
/** With very many symbols the table is larger, so that a path does not come to its end in every step. */
const minRows = 16;
/** How many words the remembered combinations may take together: about 2 MiB, with their keys. */
const maxRemembered = 250_000;

/**
 * Runs an automaton over paths, and remembers every combination of states it comes to as a row of a table, which
 * has the next row for each symbol. So a path like those before it costs one table lookup per character,
 * however many globs there are, and a character that leads somewhere new costs at most a visit to every state.
 * When the table is full it is emptied and filled anew: no glob can make it grow, and none can make a path dear.
 */
export class LazyDfa {
  private readonly alphabet: CharClasses;
  private readonly steps: NfaSimulator;
  /**
   * Rows are named by the index of their first cell. A cell holds the row its symbol leads to, or 0 when that is
   * not known yet; after the symbols comes a cell that is 1 if the row accepts. The row at 0 is never used.
   */
  private readonly table: Int32Array;
  private readonly width: number;
  private readonly rows = new Map<string, number>();
  private readonly combinations = new Map<number, StateSet>();
  private remembered = 0;
  private dead = 0;
  private start = 0;
  /** The folder matched last, and the row to which it leads with a "/" behind it. */
  private folder = "";
  private afterFolder = 0;

  constructor(automaton: Nfa) {
    this.alphabet = new CharClasses(
      automaton.states.flatMap((state) => ("ranges" in state ? state.ranges : [])),
    );
    this.steps = new NfaSimulator(automaton, this.alphabet);
    this.width = this.alphabet.representatives.length + 1;
    this.table = new Int32Array(Math.max(tableCells, minRows * this.width));
    this.begin();
  }

  /** Whether the automaton accepts the whole path. */
  matches(path: string): boolean {
    return this.accepts(this.run(this.start, path));
  }

  /** The same for the path of `name` in the folder at `folder`, "" for the base. Names of one folder share its way. */
  matchesIn(folder: string, name: string): boolean {
    return this.accepts(this.run(this.enter(folder), name));
  }

  /** `matchesIn` for the name in `bytes[from, to)`. */
  matchesBytesIn(folder: string, bytes: Buffer, from: number, to: number): boolean {
    return this.accepts(this.runOverBytes(this.enter(folder), bytes, from, to));
  }

  private accepts(row: number): boolean {
    return this.table[row + this.width - 1] === 1;
  }

  /** The row to which the path of `folder` leads, with a "/" behind it. */
  private enter(folder: string): number {
    if (folder !== this.folder) {
      const row = folder === "" ? this.start : this.run(this.start, `${folder}/`);
      this.folder = folder;
      this.afterFolder = row;
    }
    return this.afterFolder;
  }

  /** The row to which `path` leads from `start`. */
  private run(start: number, path: string): number {
    const { table, alphabet } = this;
    const { ascii } = alphabet;
    let row = start;
    for (let i = 0; i < path.length && row !== this.dead; i += 1) {
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
    }
    return row;
  }

  /** `run` for text as UTF-8. */
  private runOverBytes(start: number, bytes: Buffer, from: number, to: number): number {
    const { table } = this;
    const { ascii } = this.alphabet;
    let row = start;
    for (let at = from; at < to && row !== this.dead; at += 1) {
      const byte = bytes[at]!;
      if (byte >= 128) return this.run(row, bytes.toString("utf8", at, to));
      const symbol = ascii[byte]!;
      row = table[row + symbol]! || this.advance(row, symbol);
    }
    return row;
  }

  private begin(): void {
    this.table.fill(0);
    this.rows.clear();
    this.combinations.clear();
    this.remembered = 0;
    this.dead = this.row(this.steps.none());
    this.start = this.row(this.steps.start());
    this.folder = "";
    this.afterFolder = this.start;
  }

  private advance(row: number, symbol: number): number {
    const combination = this.steps.after(this.combinations.get(row)!, symbol);
    if (this.isFull()) {
      this.begin();
      return this.row(combination);
    }
    const next = this.row(combination);
    this.table[row + symbol] = next;
    return next;
  }

  private isFull(): boolean {
    return (this.rows.size + 2) * this.width > this.table.length || this.remembered > maxRemembered;
  }

  private row(combination: StateSet): number {
    const key = Buffer.from(combination.buffer).toString("latin1");
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const row = (this.rows.size + 1) * this.width;
    this.rows.set(key, row);
    this.combinations.set(row, combination);
    this.remembered += combination.length;
    if ((combination[accept >>> 5]! & (1 << (accept & 31))) !== 0) this.table[row + this.width - 1] = 1;
    return row;
  }
}
