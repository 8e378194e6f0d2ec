/** The code points from `from` up to and including `to`. */
export interface CodePointRange {
  readonly from: number;
  readonly to: number;
}

/**
 * A part of a glob. `one` matches one character; `run` matches any text, or any text of the characters in
 * `ranges`; `folders` matches nothing, or any text that ends in "/".
 */
export type Token =
  | { readonly kind: "one"; readonly ranges: readonly CodePointRange[] }
  | { readonly kind: "run"; readonly ranges?: readonly CodePointRange[] }
  | { readonly kind: "folders" }
  | { readonly kind: "alternatives"; readonly branches: readonly Sequence[] };

/** Tokens that match one after the other. */
export type Sequence = readonly Token[];

/** Thrown for a glob that cannot be compiled. The message is a whole sentence for the author of the glob. */
export class GlobError extends Error {
  override readonly name = "GlobError";

  constructor(glob: string, why: string, instead: string) {
    const shown = glob.length > 300 ? `${glob.slice(0, 300)}…` : glob;
    super(`The glob ${JSON.stringify(shown)} ${why}; ${instead}.`);
  }
}

const maxNesting = 32;

/**
 * Parses one glob of the dialect of Rust's `globset` with its default options (coder §6).
 *
 * Few kinds of tokens suffice: `?` is the class of every character; `**` equals `*` unless the rest of a path
 * follows, because `*` matches "/" too; and only a `**` that begins a component and is followed by "/"
 * differs, since it may also match no component.
 *
 * Throws a `GlobError` for an unclosed class or brace, a "}" that closes nothing, a backwards range, a
 * backslash at the end, text that is not well-formed Unicode, or braces nested deeper than 32.
 */
export function parseGlob(glob: string): Sequence {
  if (/\p{Surrogate}/u.test(glob)) {
    throw new GlobError(glob, "holds half of a surrogate pair", "send well-formed Unicode");
  }
  const sequence = new Parser(glob).parse();
  // On its own, `**/` would match only folders; globset lets it match everything, like `**`.
  return sequence.length === 1 && sequence[0]?.kind === "folders" ? [{ kind: "run" }] : sequence;
}

const everything: CodePointRange = { from: 0, to: 0x10ffff };

const only = (character: string): CodePointRange => {
  const codePoint = character.codePointAt(0) ?? 0;
  return { from: codePoint, to: codePoint };
};

/** A class in its written form: its ranges by their first and last characters. */
interface WrittenClass {
  readonly isNegated: boolean;
  readonly ranges: readonly (readonly [first: string, last: string])[];
  /** Whether a "]" closes it. */
  readonly isClosed: boolean;
}

/** Reads a glob character by character, in any dialect. */
export class GlobReader {
  readonly #characters: readonly string[];
  protected position = 0;

  constructor(glob: string) {
    this.#characters = [...glob];
  }

  protected peek(offset = 0): string | undefined {
    return this.#characters[this.position + offset];
  }

  /** Consumes the next character if it is this one, and returns whether it is. */
  protected take(c: string): boolean {
    if (this.peek() !== c) return false;
    this.position++;
    return true;
  }

  /**
   * Reads a class after its "[". A leading "]" or "-" and a trailing "-" stand for themselves, and a
   * backslash always does.
   */
  protected readClass(): WrittenClass {
    const isNegated = this.take("!") || this.take("^");
    const ranges: [first: string, last: string][] = [];
    let isOpen = false;
    let c = this.peek();
    for (; c !== undefined && (c !== "]" || ranges.length === 0); c = this.peek()) {
      this.position++;
      const last = ranges.at(-1);
      if (isOpen && last !== undefined) {
        last[1] = c;
        isOpen = false;
      } else if (c === "-" && last !== undefined) isOpen = true;
      else ranges.push([c, c]);
    }
    if (isOpen) ranges.push(["-", "-"]);
    return { isNegated, ranges, isClosed: this.take("]") };
  }
}

/** Returns whether the last character of a range in a class comes before its first. */
export const isBackwards = ([first, last]: readonly [string, string]): boolean =>
  last.codePointAt(0)! < first.codePointAt(0)!;

class Parser extends GlobReader {
  readonly #glob: string;

  constructor(glob: string) {
    super(glob);
    this.#glob = glob;
  }

  parse(): Sequence {
    const sequence = this.sequence(0);
    if (this.peek() === undefined) return sequence;
    throw this.error('has a "}" that closes nothing', 'write "\\}" for the character itself');
  }

  /** Parses up to the end, or inside braces up to the "," or "}" that ends the alternative. */
  private sequence(nesting: number): Sequence {
    const tokens: Token[] = [];
    let beginsComponent = true;
    for (let c = this.peek(); c !== undefined && c !== "}" && (c !== "," || nesting === 0); c = this.peek()) {
      this.position += 1;
      const token: Token = c === "*" ? this.star(beginsComponent) : this.token(c, nesting);
      const previous = tokens.at(-1);
      const repeats = previous?.kind === token.kind && (token.kind === "run" || token.kind === "folders");
      if (!repeats) tokens.push(token);
      beginsComponent = token.kind === "folders" || c === "/" || (c === "\\" && this.peek(-1) === "/");
    }
    return tokens;
  }

  private token(c: string, nesting: number): Token {
    if (c === "?") return { kind: "one", ranges: [everything] };
    if (c === "[") return this.characterClass();
    if (c === "{") return this.alternatives(nesting + 1);
    if (c === "\\") return { kind: "one", ranges: [only(this.escaped())] };
    return { kind: "one", ranges: [only(c)] };
  }

  private star(beginsComponent: boolean): Token {
    if (!this.take("*")) return { kind: "run" };
    return beginsComponent && this.take("/") ? { kind: "folders" } : { kind: "run" };
  }

  private escaped(): string {
    const c = this.peek();
    if (c === undefined) {
      throw this.error("ends in a backslash that escapes nothing", 'write "\\\\" for a backslash');
    }
    this.position += 1;
    return c;
  }

  private alternatives(nesting: number): Token {
    if (nesting > maxNesting) {
      throw this.error("nests its braces too deeply", `use at most ${maxNesting} levels, or several globs`);
    }
    const branches = [this.sequence(nesting)];
    while (this.take(",")) branches.push(this.sequence(nesting));
    if (!this.take("}")) {
      throw this.error(
        'has a "{" that is never closed',
        'close it with "}", or write "\\{" for the character itself',
      );
    }
    return { kind: "alternatives", branches: branches.filter((branch) => !isEmpty(branch)) };
  }

  private characterClass(): Token {
    const { isNegated, ranges, isClosed } = this.readClass();
    const backwards = ranges.find(isBackwards);
    if (backwards !== undefined) {
      const [first, last] = backwards;
      throw this.error(
        `has the range "${first}-${last}" in a class, which runs backwards`,
        `write "${last}-${first}"`,
      );
    }
    if (!isClosed) {
      throw this.error(
        'has a "[" that is never closed',
        'close it with "]", or write "\\[" for the character itself',
      );
    }
    const points = ranges.map(([first, last]) => ({ from: only(first).from, to: only(last).to }));
    return { kind: "one", ranges: isNegated ? complement(points, everything.to) : points };
  }

  private error(why: string, instead: string): GlobError {
    return new GlobError(this.#glob, why, instead);
  }
}

/**
 * Returns whether a sequence is empty. globset ignores empty alternatives: `a{,b}` does not match "a", while
 * `a{}` and `a{,}` do.
 */
export function isEmpty(sequence: Sequence): boolean {
  return sequence.every((token) => token.kind === "alternatives" && token.branches.length === 0);
}

/** Returns the code points, or bytes, from 0 to `last` that are in none of the ranges. */
export function complement(ranges: readonly CodePointRange[], last: number): CodePointRange[] {
  const gaps: CodePointRange[] = [];
  let next = 0;
  for (const { from, to } of ranges.toSorted((one, other) => one.from - other.from)) {
    if (from > next) gaps.push({ from: next, to: from - 1 });
    next = Math.max(next, to + 1);
  }
  if (next <= last) gaps.push({ from: next, to: last });
  return gaps;
}
