import {
  type CodePointRange,
  complement,
  GlobReader,
  isBackwards,
  isEmpty,
  type Sequence,
  type Token,
} from "../../text/globs/parse.ts";

/**
 * Parses the glob of a line of an ignore file, as ripgrep reads it: over bytes, so that `?` takes one byte of
 * a name; `*` and `?` stop at "/", and a class does not. Returns `undefined` for a glob that ripgrep refuses,
 * whose line has no effect.
 *
 * Unlike in `parseGlob`, a "[" that is never closed stands for itself, and a `**` that is not a whole
 * component equals `*`.
 */
export function parsePattern(glob: string): Sequence | undefined {
  const pieces = new Parser(glob).parse();
  if (pieces === undefined) return undefined;
  return pieces.length === 1 && pieces[0] === "prefix" ? [anything] : tokensOf(pieces);
}

/**
 * A piece of a glob: `**` as the first, a middle or the last component, with the slashes beside it; or a
 * sequence of tokens.
 */
type Piece = "prefix" | "middle" | "suffix" | Sequence;

const byte = (from: number, to = from): CodePointRange => ({ from, to });
const lastByte = 255;
const slash: Token = { kind: "one", ranges: [byte(0x2f)] };
const notSlash = [byte(0, 0x2e), byte(0x30, lastByte)];
const anything: Token = { kind: "run", ranges: [byte(0, lastByte)] };
const star: Sequence = [{ kind: "run", ranges: notSlash }];
const questionMark: Sequence = [{ kind: "one", ranges: notSlash }];

const tokensOf = (pieces: readonly Piece[]): Sequence =>
  pieces.flatMap((piece) => (typeof piece === "string" ? components[piece] : piece));

const components = {
  prefix: [{ kind: "folders" }],
  middle: [slash, { kind: "folders" }],
  suffix: [slash, anything],
} satisfies Record<string, Sequence>;

function bytesOf(character: string): readonly number[] {
  const codePoint = character.codePointAt(0)!;
  return codePoint < 128 ? [codePoint] : [...Buffer.from(character)];
}

const ofByte: readonly Token[] = Array.from({ length: lastByte + 1 }, (_, value) => ({
  kind: "one",
  ranges: [byte(value)],
}));

function literal(character: string): Sequence {
  const codePoint = character.codePointAt(0)!;
  return codePoint < 128 ? [ofByte[codePoint]!] : bytesOf(character).map((value) => ofByte[value]!);
}

/** Maximum nesting of braces. ripgrep has a limit as well, which is higher. */
const maxNesting = 64;

class Parser extends GlobReader {
  /** Whether some "[" was never closed. Then no later one is. */
  #hasNoClasses = false;

  parse(): readonly Piece[] | undefined {
    const pieces = this.#pieces(0);
    return this.peek() === undefined ? pieces : undefined;
  }

  /** Parses up to the end, or inside braces up to the "," or "}" that ends the alternative. */
  #pieces(nesting: number): Piece[] | undefined {
    const pieces: Piece[] = [];
    for (let c = this.peek(); c !== undefined; c = this.peek()) {
      if (c === "}" || (c === "," && nesting > 0)) break;
      this.position++;
      if (c === "*") this.#star(pieces, nesting);
      else {
        const piece = this.#piece(c, nesting);
        if (piece === undefined) return undefined;
        pieces.push(piece);
      }
    }
    return pieces;
  }

  #piece(c: string, nesting: number): Sequence | undefined {
    if (c === "?") return questionMark;
    if (c === "{") return this.#alternatives(nesting + 1);
    if (c === "\\") return this.#escaped();
    if (c === "[" && !this.#hasNoClasses) return this.#characterClass();
    return literal(c);
  }

  #escaped(): Sequence | undefined {
    const c = this.peek();
    if (c === undefined) return undefined;
    this.position++;
    return literal(c);
  }

  #star(pieces: Piece[], nesting: number): void {
    const before = this.peek(-2);
    if (!this.take("*")) {
      pieces.push(star);
      return;
    }
    const place = this.#placeOfStars(pieces.length === 0, before, nesting);
    const last = pieces.at(-1);
    if (place === undefined) pieces.push(star);
    else if (place === "prefix") pieces.push(place);
    // The slash before it belongs to it, and a row of such components counts as one.
    else if (last !== "prefix" && last !== "suffix") pieces.splice(-1, 1, place);
  }

  /**
   * Returns which component the `**` just read is, and consumes the slash after it. Returns `undefined` if it
   * is not a whole component.
   */
  #placeOfStars(
    isFirst: boolean,
    before: string | undefined,
    nesting: number,
  ): Exclude<Piece, Sequence> | undefined {
    const next = this.peek();
    const isInside = nesting > 0;
    if (isFirst) return next === undefined || this.take("/") ? "prefix" : undefined;
    if (before !== "/" && !(isInside && (before === "," || before === "{"))) return undefined;
    if (next === undefined || (isInside && (next === "," || next === "}"))) return "suffix";
    return this.take("/") ? "middle" : undefined;
  }

  #alternatives(nesting: number): Sequence | undefined {
    if (nesting > maxNesting) return undefined;
    const branches: Sequence[] = [];
    do {
      const pieces = this.#pieces(nesting);
      if (pieces === undefined) return undefined;
      branches.push(tokensOf(pieces));
    } while (this.take(","));
    if (!this.take("}")) return undefined;
    return [{ kind: "alternatives", branches: branches.filter((branch) => !isEmpty(branch)) }];
  }

  #characterClass(): Sequence | undefined {
    const start = this.position;
    const { isNegated, ranges, isClosed } = this.readClass();
    if (ranges.some(isBackwards)) return undefined;
    if (!isClosed) {
      this.position = start;
      this.#hasNoClasses = true;
      return literal("[");
    }
    const bytes = ranges.flatMap(([first, last]) => bytesOfRange(first, last));
    return [{ kind: "one", ranges: isNegated ? complement(bytes, lastByte) : bytes }];
  }
}

/**
 * Returns the bytes of a range. Each byte of a multi-byte character is in the class by itself, and the range
 * goes from the last byte of `first` to the first byte of `last`.
 */
function bytesOfRange(first: string, last: string): CodePointRange[] {
  const from = bytesOf(first);
  const to = bytesOf(last);
  if (first === last) return from.map((value) => byte(value));
  return [
    ...from.slice(0, -1).map((value) => byte(value)),
    byte(from.at(-1)!, to[0]!),
    ...to.slice(1).map((value) => byte(value)),
  ];
}
