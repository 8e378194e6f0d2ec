/** Counts the bytes of a growing answer as JSON, so that none becomes too large to be sent. */
export class JsonBudget {
  readonly maxBytes: number;
  #bytes: number;

  /** Creates a budget. `bytes` is the size of the empty answer, such as `{ results: [] }`. */
  constructor(maxBytes: number, bytes: number) {
    this.maxBytes = maxBytes;
    this.#bytes = bytes;
  }

  /** The number of bytes counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** The number of bytes left, negative if more was counted than fits. */
  get bytesLeft(): number {
    return this.maxBytes - this.#bytes;
  }

  /** Counts bytes, whether they fit or not. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts bytes if they fit, and returns whether they do. */
  admit(bytes: number): boolean {
    const fits = bytes <= this.bytesLeft;
    if (fits) this.#bytes += bytes;
    return fits;
  }
}

/** Returns the bytes of the commas that `added` more items take in an array with `present` items. */
export const commaBytes = (present: number, added = 1): number =>
  present === 0 ? Math.max(0, added - 1) : added;
