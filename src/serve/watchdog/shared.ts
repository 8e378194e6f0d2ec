/** Memory that the event loop shares with the thread that watches it. */

/** Bytes for the function and the path that were entered last. */
const textBytes = 1024;
const headerBytes = 12;

export class Shared {
  readonly memory: SharedArrayBuffer;
  /** The turns of the event loop, the bytes of the text, and whether the process is about to stop. */
  readonly #numbers: Int32Array;
  readonly #text: Buffer;

  constructor(memory = new SharedArrayBuffer(headerBytes + textBytes)) {
    this.memory = memory;
    this.#numbers = new Int32Array(memory, 0, 3);
    this.#text = Buffer.from(memory, headerBytes, textBytes);
  }

  /** Signals that the event loop turns. */
  beat(): void {
    Atomics.add(this.#numbers, 0, 1);
  }

  /** A number that changes with each beat. */
  get beats(): number {
    return Atomics.load(this.#numbers, 0);
  }

  /** Signals that the process is about to stop. */
  stop(): void {
    Atomics.store(this.#numbers, 2, 1);
  }

  get isStopping(): boolean {
    return Atomics.load(this.#numbers, 2) === 1;
  }

  /** Stores as much of `text` as fits. */
  set text(text: string) {
    Atomics.store(this.#numbers, 1, this.#text.write(text));
  }

  get text(): string {
    return this.#text.toString("utf8", 0, Atomics.load(this.#numbers, 1));
  }
}
