/** A buffer of raw names, each followed by a NUL. */
export class NameBuffer {
  bytes: Buffer;
  /** The offset after the last name. */
  end = 0;

  /** Creates a buffer with room for `bytes` bytes, which grows. */
  constructor(bytes: number) {
    this.bytes = Buffer.allocUnsafeSlow(bytes);
  }

  /** Adds the name in `bytes[from, to)`, followed by "/" for a folder. */
  add(bytes: Buffer, from: number, to: number, isFolder = false): void {
    const least = this.end + to - from + (isFolder ? 2 : 1);
    if (least > this.bytes.length) this.#grow(least);
    const own = this.bytes;
    // For so few bytes, a call of `copy` would take longer.
    let at = this.end;
    for (let i = from; i < to; i++) own[at++] = bytes[i]!;
    if (isFolder) own[at++] = slash;
    own[at++] = 0;
    this.end = at;
  }

  #grow(least: number): void {
    const larger = Buffer.allocUnsafeSlow(Math.max(2 * this.bytes.length, least));
    this.bytes.copy(larger, 0, 0, this.end);
    this.bytes = larger;
  }
}

const slash = 0x2f;
