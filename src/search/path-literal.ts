import type { SharedFolder } from "./shared-folder.ts";

/** The part of a folder that its entries' paths begin with. */
type PathFolder = Pick<SharedFolder, "prefix">;

/**
 * Matches paths against a literal by the bytes of names, as `path.includes(literal)` does with the decoded path, and makes
 * no string of a path. The paths of one folder should come together.
 */
export class PathLiteral {
  readonly #literal: string;
  /** Up to its last "/", and the rest, which is in one name. */
  readonly #head: string;
  readonly #tail: Buffer;
  /** A decoded path may hold what its bytes do not. */
  readonly #needsText: boolean;
  #folder: PathFolder | undefined;
  #prefix = "";
  #isInPrefix = false;
  #mayStart = false;

  constructor(literal: string) {
    const tailStart = literal.lastIndexOf("/") + 1;
    this.#literal = literal;
    this.#head = literal.slice(0, tailStart);
    this.#tail = Buffer.from(literal.slice(tailStart));
    this.#needsText = literal.includes("\ufffd") || !literal.isWellFormed();
  }

  /** Whether the path of the name in `bytes[from, to)` matches. */
  matches(folder: PathFolder, bytes: Buffer, from: number, to: number): boolean {
    if (folder !== this.#folder) this.#enter(folder);
    if (this.#isInPrefix) return true;
    if (this.#needsText) return (this.#prefix + bytes.toString("utf8", from, to)).includes(this.#literal);
    if (this.#head !== "") return this.#mayStart && this.#isAt(bytes, from, to);
    const first = this.#tail[0];
    const last = to - this.#tail.length;
    for (let at = from; at <= last; at++) if (bytes[at] === first && this.#isAt(bytes, at, to)) return true;
    return false;
  }

  #enter(folder: PathFolder): void {
    const { prefix } = folder;
    this.#folder = folder;
    this.#prefix = prefix;
    this.#isInPrefix = prefix.includes(this.#literal);
    this.#mayStart = prefix.endsWith(this.#head);
  }

  #isAt(bytes: Buffer, at: number, to: number): boolean {
    const tail = this.#tail;
    if (to - at < tail.length) return false;
    for (let i = 0; i < tail.length; i++) if (bytes[at + i] !== tail[i]) return false;
    return true;
  }
}
