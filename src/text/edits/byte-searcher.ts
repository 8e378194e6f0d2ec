import type { Steps } from "../../base/scheduling/time-slice.ts";
import { encodeUtf8 } from "./text.ts";

/**
 * Exact search for bytes in time linear in both texts, whatever they are: the own search of some runtimes is
 * not, and callers send both texts. Knuth, Morris and Pratt, "Fast pattern matching in strings", 1977.
 */

/** Maximum bytes passed to the runtime's own search. So few cost it little, even in the worst case. */
const headBytes = 32;

/** Bytes that one step of a search compares. */
const bytesPerStep = 512 * 1024;

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
  *find(body: Buffer, from: number): Steps<number> {
    if (this.#needle.length > body.length - from) return -1;
    const start = body.indexOf(this.#head, from);
    if (start < 0 || this.#head.length === this.#needle.length) return start;
    if (body.subarray(start, start + this.#needle.length).equals(this.#needle)) return start;
    this.#borders ??= yield* bordersOf(this.#needle);
    const search = { body, borders: this.#borders, at: start, matched: 0 };
    for (;;) {
      const found = this.#continue(search);
      if (found !== undefined) return found;
      yield;
    }
  }

  /** Continues for one step. Returns the offset or -1, or `undefined` if there is more to search. */
  #continue(search: Search): number | undefined {
    const { body, borders } = search;
    const needle = this.#needle;
    let { at, matched } = search;
    for (const end = at + bytesPerStep; at < body.length; at++) {
      if (at === end) {
        Object.assign(search, { at, matched });
        return undefined;
      }
      while (matched > 0 && needle[matched] !== body[at]) matched = borders[matched]!;
      if (needle[matched] === body[at]) matched++;
      if (matched === needle.length) return at - matched + 1;
      if (matched > 0) continue;
      const next = body.indexOf(this.#head, at + 1);
      if (next < 0) return -1;
      if (next >= end) {
        Object.assign(search, { at: next, matched });
        return undefined;
      }
      at = next - 1;
    }
    return -1;
  }
}

/** Returns whether `text` includes `part`; both may be texts of a caller. */
export function* includesText(text: string, part: string): Steps<boolean> {
  if (part.length > text.length) return false;
  return (yield* new ByteSearcher(yield* encodeUtf8(part)).find(yield* encodeUtf8(text), 0)) >= 0;
}

/** A search, and how far it is. */
interface Search {
  readonly body: Buffer;
  readonly borders: Int32Array;
  /** The next offset to compare. */
  at: number;
  /** The bytes of the needle that end before it. */
  matched: number;
}

function* bordersOf(needle: Buffer): Steps<Int32Array> {
  const borders = new Int32Array(needle.length + 1);
  for (let from = 1; from < needle.length; from += bytesPerStep) {
    if (from > 1) yield;
    addBorders(borders, needle, [from, Math.min(needle.length, from + bytesPerStep)]);
  }
  return borders;
}

/** Adds the borders of the lengths after `from`, up to `to`. */
function addBorders(borders: Int32Array, needle: Buffer, [from, to]: readonly [number, number]): void {
  let border = borders[from]!;
  for (let length = from; length < to; length++) {
    while (border > 0 && needle[border] !== needle[length]) border = borders[border]!;
    if (needle[border] === needle[length]) border++;
    borders[length + 1] = border;
  }
}
