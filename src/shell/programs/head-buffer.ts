const newline = 0x0a;

/** The first bytes of a stream that may be endless. */
export class HeadBuffer {
  readonly #limit: number;
  #kept: Buffer = Buffer.alloc(0);
  #length = 0;
  #truncated = false;

  /** Keeps at most `limit` bytes. */
  constructor(limit: number) {
    this.#limit = limit;
  }

  /** Whether it has discarded bytes. */
  get truncated(): boolean {
    return this.#truncated;
  }

  /** Keeps the bytes that fit. Copies them, because a chunk of one byte may be a view of a slab of 64 KiB. */
  add(chunk: Uint8Array): void {
    const taken = Math.min(chunk.length, this.#limit - this.#length);
    if (taken < chunk.length) this.#truncated = true;
    if (taken === 0) return;
    this.#makeRoom(this.#length + taken);
    this.#kept.set(chunk.subarray(0, taken), this.#length);
    this.#length += taken;
  }

  /** Appends a line, which replaces the last bytes if it does not fit. */
  endWith(line: string): void {
    const isMidLine = this.#length > 0 && this.#kept[this.#length - 1] !== newline;
    const bytes = Buffer.from(`${isMidLine ? "\n" : ""}${line}\n`).subarray(0, this.#limit);
    const over = Math.max(0, this.#length + bytes.length - this.#limit);
    if (over > 0) this.#truncated = true;
    this.#length -= over;
    this.add(bytes);
  }

  /**
   * Decodes the kept bytes, with U+FFFD for those that are not UTF-8, such as a character cut at the limit.
   * Keeps a byte order mark.
   */
  render(): string {
    return new TextDecoder("utf-8", { ignoreBOM: true }).decode(this.bytes());
  }

  /** Returns the kept bytes, valid until the next `add`. */
  bytes(): Buffer {
    return this.#kept.subarray(0, this.#length);
  }

  #makeRoom(bytes: number): void {
    if (bytes <= this.#kept.length) return;
    const larger = Buffer.alloc(Math.min(this.#limit, Math.max(bytes, 2 * this.#kept.length)));
    this.#kept.copy(larger, 0, 0, this.#length);
    this.#kept = larger;
  }
}
