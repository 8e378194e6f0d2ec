/**
 * Exact search for bytes in time linear in both texts, whatever they are: the own search of some runtimes is
 * not, and callers send both texts. Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977.
 */

/** Maximum bytes passed to the runtime's own search. So few cost it little, even in the worst case. */
const headBytes = 32;

/** Searches for one non-empty sequence of bytes, repeatedly. */
export class ByteSearcher {
  readonly #needle: Buffer;
  readonly #head: Buffer;
  /** For each length of a partial match, the longest shorter match that ends in the same place. */
  #borders: Int32Array | undefined;

  constructor(needle: Buffer) {
    this.#needle = needle;
    this.#head = needle.subarray(0, headBytes);
  }

  /** Returns the first offset in `body`, at or after `from`, where the needle begins, or -1. */
  find(body: Buffer, from: number): number {
    if (this.#needle.length > body.length - from) return -1;
    const at = body.indexOf(this.#head, from);
    return at < 0 || this.#head.length === this.#needle.length ? at : this.#findFrom(body, at);
  }

  #findFrom(body: Buffer, start: number): number {
    const needle = this.#needle;
    this.#borders ??= bordersOf(needle);
    let matched = 0;
    for (let at = start; at < body.length; at++) {
      while (matched > 0 && needle[matched] !== body[at]) matched = this.#borders[matched]!;
      if (needle[matched] === body[at]) matched++;
      if (matched === needle.length) return at - matched + 1;
      if (matched > 0) continue;
      const next = body.indexOf(this.#head, at + 1);
      if (next < 0) return -1;
      at = next - 1;
    }
    return -1;
  }
}

function bordersOf(needle: Buffer): Int32Array {
  const borders = new Int32Array(needle.length + 1);
  for (let length = 1, border = 0; length < needle.length; length++) {
    while (border > 0 && needle[border] !== needle[length]) border = borders[border]!;
    if (needle[border] === needle[length]) border++;
    borders[length + 1] = border;
  }
  return borders;
}
