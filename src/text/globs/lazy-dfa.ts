import { CharClasses } from "./char-classes.ts";
import type { Nfa } from "./nfa.ts";
import { NfaSimulator, type StateSet } from "./nfa-simulator.ts";

/** Maximum cells of the table: 256 KiB, some 2,500 rows for typical globs. */
const maxCells = 65_536;
/**
 * Initial and minimum rows. With very many symbols the table is larger than `maxCells`, so that it is not
 * full after every step.
 */
const firstRows = 16;
/** Maximum words of all cached combinations together: about 2 MiB, with their keys. */
const maxCached = 250_000;

/** Approximate bytes of a row besides its cells, and of a state. */
const bytesOfRow = 300;
const bytesOfState = 150;

/** The input of an automaton, and the output for the states that it reaches. */
export interface LazyDfaOptions {
  /** The unit that the automaton reads: a code point of UTF-8, or a byte. */
  readonly characters: "code points" | "bytes";
  /** Returns the output for a text that leaves the automaton in these states. */
  readonly outputOf: (combination: StateSet) => number;
}

/** A name in `bytes[from, to)`. */
interface ByteRange {
  readonly bytes: Buffer;
  readonly from: number;
  readonly to: number;
}

/** Returns 1 if the automaton of a single group accepts, else 0. */
const accepts = (combination: StateSet): number => combination[0]! & 1;

/** Returns whether the path is that of the folder, "" for the base, or lies below it. */
const isWithin = (path: string, folder: string): boolean =>
  folder === "" ||
  (path.startsWith(folder) && (path.length === folder.length || path.charCodeAt(folder.length) === slash));

const slash = 0x2f;

/**
 * Runs an automaton over paths, and caches every combination of states that it reaches as a row of a table,
 * which holds the next row for each symbol. So a path like earlier ones costs one table lookup per character,
 * however many globs there are, and a character that leads to a new combination costs at most a visit to
 * every state. A full table is cleared and refilled: no glob makes it grow beyond its limit, and none makes a
 * path costly.
 */
export class LazyDfa {
  private readonly alphabet: CharClasses;
  private readonly steps: NfaSimulator;
  private readonly states: number;
  /**
   * Rows are identified by the index of their first cell. A cell holds the row that its symbol leads to, or 0
   * if that is not known yet; the cell after the symbols is the output of the row. The row at 0 is never
   * used.
   */
  private table: Int32Array;
  private readonly width: number;
  private readonly rows = new Map<string, number>();
  private readonly combinations = new Map<number, StateSet>();
  private cached = 0;
  private dead = 0;
  private start = 0;
  /**
   * The folder matched last, after those above it that were matched before, and the row that each leads to
   * with a "/" after it.
   */
  private readonly folders: string[] = [];
  private readonly rowsAfter: number[] = [];
  /** The number of leading code units of their paths that were skipped. */
  private skipped = 0;

  private readonly options: LazyDfaOptions;

  constructor(automaton: Nfa, options: LazyDfaOptions = { characters: "code points", outputOf: accepts }) {
    this.options = options;
    this.alphabet = new CharClasses(
      automaton.states.flatMap((state) => ("ranges" in state ? state.ranges : [])),
    );
    this.states = automaton.states.length;
    this.steps = new NfaSimulator(automaton, this.alphabet);
    this.width = this.alphabet.representatives.length + 1;
    this.table = new Int32Array(firstRows * this.width);
    this.begin();
  }

  /** Returns whether the automaton accepts the whole path. */
  matches(path: string): boolean {
    return this.output(this.run(this.start, path)) === 1;
  }

  /**
   * Like `matches`, but for the path of `name` in the folder at `folder`, "" for the base. Names of one
   * folder share its row.
   */
  matchesIn(folder: string, name: string): boolean {
    return this.output(this.run(this.enter(folder, 0), name)) === 1;
  }

  /** Like `matchesIn`, but for the name in `bytes[from, to)`. */
  matchesBytesIn(folder: string, bytes: Buffer, from: number, to: number): boolean {
    return this.output(this.runOverBytes(this.enter(folder, 0), bytes, from, to)) === 1;
  }

  /**
   * Returns the output for the path of this name in the folder at `folder`, without the first `skipped` code
   * units of that path.
   */
  outputForBytesIn(folder: string, skipped: number, { bytes, from, to }: ByteRange): number {
    return this.output(this.runOverBytes(this.enter(folder, skipped), bytes, from, to));
  }

  /** The approximate memory in bytes. */
  get memory(): number {
    const { table, cached, rows, states } = this;
    return 4 * table.length + 8 * cached + bytesOfRow * rows.size + bytesOfState * states;
  }

  private output(row: number): number {
    return this.table[row + this.width - 1]!;
  }

  /**
   * Returns the row that the path of `folder`, from the code unit at `skipped` on, leads to with a "/" after
   * it.
   */
  private enter(folder: string, skipped: number): number {
    const { folders, rowsAfter } = this;
    if (skipped !== this.skipped) {
      folders.length = rowsAfter.length = 1;
      this.skipped = skipped;
    }
    if (folder === folders.at(-1)) return rowsAfter.at(-1)!;
    while (!isWithin(folder, folders.at(-1)!)) {
      folders.pop();
      rowsAfter.pop();
    }
    const above = folders.at(-1)!;
    const row = rowsAfter.at(-1)!;
    const from = above === "" ? skipped : above.length + 1;
    if (folder === "" || folder.length < from) return row;
    const after = this.run(this.run(row, folder, from), "/");
    folders.push(folder);
    rowsAfter.push(after);
    return after;
  }

  /** Returns the row that `path`, from the code unit at `from` on, leads to from `start`. */
  private run(start: number, path: string, from = 0): number {
    const { alphabet } = this;
    const { low } = alphabet;
    const takesBytes = this.options.characters === "bytes";
    let row = start;
    for (let i = from; i < path.length && row !== this.dead; i += 1) {
      const unit = path.charCodeAt(i);
      let symbol: number;
      if (unit < 128) {
        symbol = low[unit]!;
      } else if (takesBytes) {
        const rest = Buffer.from(path.slice(i));
        return this.runOverBytes(row, rest, 0, rest.length);
      } else {
        const character = path.codePointAt(i)!;
        if (character > 0xffff) i += 1;
        symbol = alphabet.symbolOf(character);
      }
      row = this.table[row + symbol]! || this.advance(row, symbol);
    }
    return row;
  }

  /** Like `run`, but for text given as bytes. */
  private runOverBytes(start: number, bytes: Buffer, from: number, to: number): number {
    const { low } = this.alphabet;
    const decoded = this.options.characters === "code points" ? 128 : 256;
    let { table, dead } = this;
    let row = start;
    for (let at = from; at < to && row !== dead; at += 1) {
      const byte = bytes[at]!;
      if (byte >= decoded) return this.run(row, bytes.toString("utf8", at, to));
      const symbol = low[byte]!;
      const known = table[row + symbol]!;
      row = known || this.advance(row, symbol);
      if (known === 0) ({ table, dead } = this);
    }
    return row;
  }

  private begin(): void {
    this.table.fill(0);
    this.rows.clear();
    this.combinations.clear();
    this.cached = 0;
    this.dead = this.row(this.steps.none());
    this.start = this.row(this.steps.start());
    this.folders.length = this.rowsAfter.length = 0;
    this.folders.push("");
    this.rowsAfter.push(this.start);
  }

  private advance(row: number, symbol: number): number {
    const combination = this.steps.after(this.combinations.get(row)!, symbol);
    if (this.isFull() && !this.grow()) {
      this.begin();
      return this.row(combination);
    }
    const next = this.row(combination);
    this.table[row + symbol] = next;
    return next;
  }

  private isFull(): boolean {
    return (this.rows.size + 2) * this.width > this.table.length || this.cached > maxCached;
  }

  /** Enlarges the table. Returns false at its limit. Indices of rows stay valid. */
  private grow(): boolean {
    const cells = Math.min(2 * this.table.length, maxCells);
    if (cells <= this.table.length || this.cached > maxCached) return false;
    const larger = new Int32Array(cells);
    larger.set(this.table);
    this.table = larger;
    return !this.isFull();
  }

  private row(combination: StateSet): number {
    const key = keyOf(combination);
    const known = this.rows.get(key);
    if (known !== undefined) return known;
    const row = (this.rows.size + 1) * this.width;
    this.rows.set(key, row);
    this.combinations.set(row, combination);
    this.cached += combination.length;
    this.table[row + this.width - 1] = this.options.outputOf(combination);
    return row;
  }
}

/**
 * Returns a text that identifies a combination: its nonzero words, with their places. Typically there are
 * few.
 */
function keyOf(combination: StateSet): string {
  let key = "";
  for (let place = 0; place < combination.length; place++) {
    const word = combination[place]!;
    if (word !== 0) key += String.fromCharCode(place, word & 0xffff, word >>> 16);
  }
  return key;
}
