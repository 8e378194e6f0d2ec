/** A buffer kept between uses, because memory that is new to the process costs more than reading into it. */
let spare: Buffer | undefined;

/** Maximum size of a kept buffer, in bytes. */
const maxKept = 16 * 1024 * 1024;

/** Memory for the content of one file, which is invalid once it is disposed of. */
export class ScratchBuffer implements Disposable {
  #buffer = spare;

  constructor() {
    spare = undefined;
  }

  /**
   * Returns at least `bytes` bytes, uninitialized. It is the same buffer each time if that is large enough.
   */
  reserve(bytes: number): Buffer {
    if (this.#buffer === undefined || this.#buffer.length < bytes)
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024));
    return this.#buffer;
  }

  [Symbol.dispose](): void {
    if (this.#buffer !== undefined && this.#buffer.length <= maxKept) spare = this.#buffer;
    this.#buffer = undefined;
  }
}
