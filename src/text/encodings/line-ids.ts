/** Maximum lines in the first map, and the number of further ones. */
const [maxFirst, parts] = [16_384, 256];

/**
 * Numbers different lines, from 0. Millions of them are kept in many maps, since one map takes a tenth of a
 * second to grow then.
 */
export class LineIds {
  readonly #first = new Map<string, number>();
  readonly #others: Map<string, number>[] = [];
  #size = 0;

  get size(): number {
    return this.#size;
  }

  /** Returns the number of a line, or `undefined` if it has none. */
  find(line: string): number | undefined {
    return this.#first.get(line) ?? this.#others[partOf(line)]?.get(line);
  }

  /** Returns the number of a line, which gets the next one if it has none. */
  idOf(line: string): number {
    const known = this.find(line);
    if (known !== undefined) return known;
    this.#mapFor(line).set(line, this.#size);
    return this.#size++;
  }

  #mapFor(line: string): Map<string, number> {
    if (this.#size < maxFirst) return this.#first;
    const part = partOf(line);
    this.#others[part] ??= new Map();
    return this.#others[part];
  }
}

/**
 * Returns the map of a line, by up to seventeen of its characters. The last maps get twice as many lines as
 * the first ones, so that they do not all grow at once.
 */
function partOf(line: string): number {
  let hash = line.length;
  const step = (line.length >> 4) + 1;
  for (let at = line.length - 1; at >= 0; at -= step) hash = Math.imul(hash, 31) + line.charCodeAt(at);
  const share = (Math.imul(hash ^ (hash >>> 16), 0x85ebca6b) >>> 16) / 2 ** 16;
  return Math.floor(parts * (Math.sqrt(1 + 3 * share) - 1));
}
