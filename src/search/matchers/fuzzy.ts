/** Fuzzy matching of paths: the characters of a query in order, with others between them (coder §16). */

/**
 * The score of a matched character, and the cost of skipped ones. The start of a word is worth half as much
 * as a match.
 */
const scores = {
  match: 16,
  gap: -3,
  longerGap: -1,
  nameStart: 10,
  wordStart: 8,
  humpStart: 7,
  /** Minimum bonus of a character that directly follows the previous one. */
  run: 8,
  inFileName: 2,
  /** The bonus of a capital in the query that is a capital in the path too. */
  capital: 8,
} as const;

/** A value below any score, for no match. */
const none = -(2 ** 30);

/** The terms of a query, which all have to match. */
export class FuzzyPattern {
  readonly #terms: readonly Term[];
  /** The number of characters. The time to score a path grows with it. */
  readonly length: number;
  #rows = [new Int32Array(256), new Int32Array(256)] as const;

  constructor(query: string) {
    const words = query.split(/\s+/u).filter((word) => word !== "");
    this.#terms = (words.length > 0 ? words : [query]).map((word) => new Term(word));
    this.length = query.length;
  }

  /** Returns the score of the path, higher for a better match, or `undefined` if it does not match. */
  score(path: string): number | undefined {
    const folded = fold(path);
    if (!this.#terms.every((term) => term.mayMatch(folded))) return undefined;
    const text = new PathText(path, folded);
    if (text.length > this.#rows[0].length)
      this.#rows = [new Int32Array(2 * text.length), new Int32Array(2 * text.length)];
    let sum = 0;
    for (const term of this.#terms) {
      const score = term.score(text, this.#rows);
      if (score === none) return undefined;
      sum += score;
    }
    return sum;
  }
}

type Characters = ArrayLike<string>;

/** A path, character by character. */
class PathText {
  readonly exact: Characters;
  readonly folded: Characters;
  /** The bonus of each character for its position. */
  readonly bonus: Int32Array;
  /** The index of the first character of the file name. */
  readonly name: number;

  constructor(path: string, folded: string) {
    this.exact = charactersOf(path);
    this.folded = charactersOf(folded);
    this.bonus = new Int32Array(this.exact.length);
    let [name, before]: [number, CharacterKind] = [0, "other"];
    for (let at = 0; at < this.exact.length; at++) {
      const kind = kindOf(this.exact[at]!);
      this.bonus[at] = bonusAt(kind, before, at === name);
      before = kind;
      if (this.exact[at] === "/") name = at + 1;
    }
    this.name = name;
  }

  get length(): number {
    return this.exact.length;
  }
}

class Term {
  readonly #exact: Characters;
  readonly #folded: Characters;

  constructor(word: string) {
    this.#exact = charactersOf(word);
    this.#folded = charactersOf(fold(word));
  }

  /** Returns false only if the characters do not occur in order. */
  mayMatch(folded: string): boolean {
    let at = 0;
    for (let i = 0; i < this.#folded.length; i++) {
      at = folded.indexOf(this.#folded[i]!, at) + 1;
      if (at === 0) return false;
    }
    return true;
  }

  /**
   * Returns the highest score of all ways to match, or `none`. Takes time in proportion to the product of
   * both lengths.
   */
  score(text: PathText, rows: readonly [Int32Array, Int32Array]): number {
    let [row, above] = rows;
    let best = none;
    for (let i = 0; i < this.#folded.length; i++) {
      [row, above] = [above, row];
      best = this.#fillRow(i, text, { row, above });
      if (best === none) return none;
    }
    return best;
  }

  /**
   * Computes the scores of matches that end with character `i` of the term at each character of the text.
   * Returns the highest.
   */
  #fillRow(i: number, text: PathText, { row, above }: { row: Int32Array; above: Int32Array }): number {
    const character = this.#folded[i]!;
    let [best, gap] = [none as number, none as number];
    for (let at = 0; at < text.length; at++) {
      if (at > 1) gap = Math.max(gap + scores.longerGap, above[at - 2]! + scores.gap);
      row[at] = none;
      if (text.folded[at] !== character) continue;
      const before = i === 0 ? text.bonus[at]! * 2 : this.#before(text.bonus[at]!, gap, above[at - 1]);
      if (before < none / 2) continue;
      row[at] = before + scores.match + this.#extras(i, text, at);
      best = Math.max(best, row[at]!);
    }
    return best;
  }

  /** Returns the better score of a match directly after the previous character, and of one after a gap. */
  #before(bonus: number, gap: number, adjacent: number | undefined): number {
    return Math.max(gap + bonus, (adjacent ?? none) + Math.max(bonus, scores.run));
  }

  #extras(i: number, text: PathText, at: number): number {
    const inName = at >= text.name ? scores.inFileName : 0;
    const isCapital = this.#exact[i] !== this.#folded[i] && text.exact[at] === this.#exact[i];
    return isCapital ? inName + scores.capital : inName;
  }
}

const isAscii = (text: string): boolean => /^[\0-\x7f]*$/.test(text);

const charactersOf = (text: string): Characters => (isAscii(text) ? text : Array.from(text));

/** Converts to lower case, character by character. */
const fold = (text: string): string =>
  isAscii(text) ? text.toLowerCase() : Array.from(text, foldCharacter).join("");

function foldCharacter(character: string): string {
  const lower = character.toLowerCase();
  return lower.length === character.length ? lower : character;
}

function bonusAt(kind: CharacterKind, before: CharacterKind, isFirst: boolean): number {
  if (isFirst) return scores.nameStart;
  if (kind === "other" || before === "other") return scores.wordStart;
  const isHump = kind === "upper" && before === "lower";
  return isHump || (kind === "digit" && before !== "digit") ? scores.humpStart : 0;
}

type CharacterKind = "lower" | "upper" | "letter" | "digit" | "other";

function kindOf(character: string): CharacterKind {
  const code = character.charCodeAt(0);
  if (code >= 0x61 && code <= 0x7a) return "lower";
  if (code >= 0x41 && code <= 0x5a) return "upper";
  if (code >= 0x30 && code <= 0x39) return "digit";
  return code < 0x80 ? "other" : kindBeyondAscii(character);
}

function kindBeyondAscii(character: string): CharacterKind {
  if (/^\p{Ll}$/u.test(character)) return "lower";
  if (/^\p{Lu}$/u.test(character)) return "upper";
  if (/^\p{Nd}$/u.test(character)) return "digit";
  return /^[\p{L}\p{M}\p{N}]$/u.test(character) ? "letter" : "other";
}
