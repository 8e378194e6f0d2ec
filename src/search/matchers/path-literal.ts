import type { SharedFolder } from "../walk/shared-folder.ts";
import { isLiteral, type Query } from "./query-compiler.ts";

/** The part of a folder that its entries' paths begin with. */
export type PathFolder = Pick<SharedFolder, "prefix">;

/**
 * Returns whether `PathLiteral` can match the query. Only the engine knows the case folding of other
 * characters than ASCII.
 */
export const isPathLiteral = ({ pattern, ignoreCase, ...query }: Query): boolean =>
  isLiteral({ ...query, pattern, ignoreCase: false }) && (!ignoreCase || /^[\0-\x7f]*$/.test(pattern));

/**
 * Matches paths against a literal by the bytes of names, with the results of `LineMatcher.matchesPath` on the
 * decoded path, and usually without making a string. The paths of one folder should come together.
 */
export class PathLiteral {
  readonly #literal: string;
  readonly #ignoresCase: boolean;
  /** The literal up to its last "/", and the rest, which lies within one name. */
  readonly #head: string;
  readonly #tail: Buffer;
  /** Whether to match the decoded path, because it may contain what its bytes do not. */
  readonly #needsText: boolean;
  #folder: PathFolder | undefined;
  #isInPrefix = false;
  #mayStart = false;

  /** Creates a matcher for a query that satisfies `isPathLiteral`. */
  constructor({ pattern, ignoreCase }: Pick<Query, "pattern" | "ignoreCase">) {
    const literal = ignoreCase ? foldCase(pattern) : pattern;
    const tailStart = literal.lastIndexOf("/") + 1;
    this.#literal = literal;
    this.#ignoresCase = ignoreCase;
    this.#head = literal.slice(0, tailStart);
    this.#tail = Buffer.from(literal.slice(tailStart));
    this.#needsText = literal.includes("\ufffd") || !literal.isWellFormed();
  }

  /** Returns whether the path of the name in `bytes[from, to)` matches. */
  matches(folder: PathFolder, bytes: Buffer, from: number, to: number): boolean {
    if (folder !== this.#folder) this.#enter(folder);
    if (this.#isInPrefix) return true;
    if (this.#needsText || (this.#ignoresCase && !isAsciiIn(bytes, from, to)))
      return this.#fold(folder.prefix + bytes.toString("utf8", from, to)).includes(this.#literal);
    if (this.#head !== "") return this.#mayStart && this.#isAt(bytes, from, to);
    for (let at = from; at <= to - this.#tail.length; at++) if (this.#isAt(bytes, at, to)) return true;
    return false;
  }

  #enter(folder: PathFolder): void {
    const prefix = this.#fold(folder.prefix);
    this.#folder = folder;
    this.#isInPrefix = prefix.includes(this.#literal);
    this.#mayStart = prefix.endsWith(this.#head);
  }

  #fold(text: string): string {
    return this.#ignoresCase ? foldCase(text) : text;
  }

  #isAt(bytes: Buffer, at: number, to: number): boolean {
    const tail = this.#tail;
    if (to - at < tail.length) return false;
    for (let i = 0; i < tail.length; i++) {
      const byte = bytes[at + i]!;
      if ((this.#ignoresCase ? lowerCase(byte) : byte) !== tail[i]) return false;
    }
    return true;
  }
}

const lowerCase = (byte: number): number => (byte >= 0x41 && byte <= 0x5a ? byte + 0x20 : byte);

/**
 * Folds all characters that fold to an ASCII letter: U+212A is also a K, and U+017F an s (Unicode,
 * CaseFolding.txt).
 */
const foldCase = (text: string): string =>
  text.replace(/[A-Z\u017f\u212a]/g, (one) =>
    one === "\u017f" ? "s" : one === "\u212a" ? "k" : one.toLowerCase(),
  );

function isAsciiIn(bytes: Buffer, from: number, to: number): boolean {
  for (let at = from; at < to; at++) if (bytes[at]! >= 0x80) return false;
  return true;
}
