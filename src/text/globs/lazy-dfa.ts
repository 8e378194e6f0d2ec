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

/** Maximum code units of a path that is as short as a name. */
const shortPath = 255;

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

/** The folders on the way of a walk, each with the states that its path leads an automaton to. */
export class FolderTrail {
  /** The number of leading code units of their paths that are skipped. */
  readonly skipped: number;
  /** The folder matched last, after those above it that were matched before. */
  readonly folders: string[] = [""];
  /** The states that each leads to with a "/" after it, and their row; 0 if the table was cleared since. */
  readonly states: StateSet[];
  readonly rows: number[];
  /** The number of times that the table had been cleared when the rows were found. */
  cleared: number;

  constructor(skipped: number, start: { states: StateSet; row: number; cleared: number }) {
    this.skipped = skipped;
    this.states = [start.states];
    this.rows = [start.row];
    this.cleared = start.cleared;
  }
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
  /** The number of times that the table was cleared. */
  private cleared = 0;
  private readonly trail: FolderTrail;

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
    this.trail = this.trailFrom(0);
  }

  /** Returns a trail for paths without their first `skipped` code units. */
  trailFrom(skipped: number): FolderTrail {
    const { start: row, cleared } = this;
    return new FolderTrail(skipped, { states: this.combinations.get(row)!, row, cleared });
  }

  /**
   * Follows a trail to a folder, one level per step. Names in it then cost no more than themselves. A short
   * path is left to the first of these.
   */
  *follow(trail: FolderTrail, folder: string): Generator<void, void, void> {
    if (folder.length <= shortPath) return;
    for (let end = folder.indexOf("/", trail.skipped); end >= 0; end = folder.indexOf("/", end + 1)) {
      this.enter(trail, folder.slice(0, end));
      yield;
    }
    this.enter(trail, folder);
  }

  /** Returns whether the automaton accepts the whole path. */
  matches(path: string): boolean {
    return this.output(this.run(this.start, path)) === 1;
  }

  /**
   * Returns whether the automaton accepts the path of these names, or of the first of them, and reads each
   * name once.
   */
  matchesOnWay(names: readonly string[]): boolean {
    let row = this.start;
    for (const [index, name] of names.entries()) {
      row = this.run(index === 0 ? row : this.run(row, "/"), name);
      if (this.output(row) === 1) return true;
    }
    return false;
  }

  /**
   * Like `matches`, but for the path of `name` in the folder at `folder`, "" for the base. Names of one
   * folder share its row.
   */
  matchesIn(folder: string, name: string): boolean {
    return this.output(this.run(this.enter(this.trail, folder), name)) === 1;
  }

  /** Like `matchesIn`, but for the name in `bytes[from, to)`. */
  matchesBytesIn(folder: string, bytes: Buffer, from: number, to: number): boolean {
    return this.output(this.runOverBytes(this.enter(this.trail, folder), bytes, from, to)) === 1;
  }

  /** Returns the output for the path of this name in the folder at `folder`, by its trail. */
  outputForBytesIn(trail: FolderTrail, folder: string, { bytes, from, to }: ByteRange): number {
    return this.output(this.runOverBytes(this.enter(trail, folder), bytes, from, to));
  }

  /** The approximate memory in bytes. */
  get memory(): number {
    const { table, cached, rows, states } = this;
    return 4 * table.length + 8 * cached + bytesOfRow * rows.size + bytesOfState * states;
  }

  private output(row: number): number {
    return this.table[row + this.width - 1]!;
  }

  /** Returns the row that the path of `folder` leads to with a "/" after it. */
  private enter(trail: FolderTrail, folder: string): number {
    const { folders, rows, states } = trail;
    if (folder === folders.at(-1)) return this.rowAfter(trail);
    while (!isWithin(folder, folders.at(-1)!)) {
      folders.pop();
      rows.pop();
      states.pop();
    }
    const above = folders.at(-1)!;
    const row = this.rowAfter(trail);
    const from = above === "" ? trail.skipped : above.length + 1;
    if (folder === "" || folder.length < from) return row;
    const after = this.run(this.run(row, folder, from), "/");
    this.forgetCleared(trail);
    folders.push(folder);
    rows.push(after);
    states.push(this.combinations.get(after)!);
    return after;
  }

  /** Returns the row of the last folder, and adds it again if the table was cleared. */
  private rowAfter(trail: FolderTrail): number {
    this.forgetCleared(trail);
    const known = trail.rows.at(-1)!;
    if (known !== 0) return known;
    const states = trail.states.at(-1)!;
    if (!this.rows.has(keyOf(states)) && this.isFull() && !this.grow()) {
      this.begin();
      this.forgetCleared(trail);
    }
    const row = this.row(states);
    trail.rows[trail.rows.length - 1] = row;
    return row;
  }

  private forgetCleared(trail: FolderTrail): void {
    if (trail.cleared === this.cleared) return;
    trail.rows.fill(0);
    trail.cleared = this.cleared;
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
    this.cleared++;
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

/** Returns a text that identifies a combination: its bytes, which are copied faster than any are left out. */
function keyOf({ buffer, byteOffset, byteLength }: StateSet): string {
  return Buffer.from(buffer, byteOffset, byteLength).toString("latin1");
}
