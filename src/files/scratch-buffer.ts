/** Kept between uses: memory that is new to the process costs more than reading into it. */
let spare: Buffer | undefined;

/** Of larger files the memory is not kept. */
const mostKept = 16 * 1024 * 1024;

/** Memory for the content of one file. What lies in it is worthless once it is disposed of. */
export class ScratchBuffer implements Disposable {
  #buffer = spare;

  constructor() {
    spare = undefined;
  }

  /** At least `bytes` bytes, uninitialised: the same buffer each time, if it is large enough. */
  reserve(bytes: number): Buffer {
    if (this.#buffer === undefined || this.#buffer.length < bytes)
      this.#buffer = Buffer.allocUnsafeSlow(Math.max(bytes, 64 * 1024));
    return this.#buffer;
  }

  [Symbol.dispose](): void {
    if (this.#buffer !== undefined && this.#buffer.length <= mostKept) spare = this.#buffer;
    this.#buffer = undefined;
  }
}
