/** Counts the bytes that an answer has as JSON while it grows, so that none is made that cannot be sent. */
export class JsonBudget {
  readonly maxBytes: number;
  #bytes: number;

  /** `bytes` are those of an answer that nothing is in yet, such as `{ results: [] }`. */
  constructor(maxBytes: number, bytes: number) {
    this.maxBytes = maxBytes;
    this.#bytes = bytes;
  }

  /** Bytes of all that was counted. */
  get bytes(): number {
    return this.#bytes;
  }

  /** Bytes that are left; negative when more was counted than fits. */
  get bytesLeft(): number {
    return this.maxBytes - this.#bytes;
  }

  /** Counts something, whether it fits or not. */
  add(bytes: number): void {
    this.#bytes += bytes;
  }

  /** Counts something if it fits, and says so. */
  admit(bytes: number): boolean {
    const fits = bytes <= this.bytesLeft;
    if (fits) this.#bytes += bytes;
    return fits;
  }
}

/** Bytes of the commas that `added` more items take in an array that has `present` items. */
export const commaBytes = (present: number, added = 1): number =>
  present === 0 ? Math.max(0, added - 1) : added;
