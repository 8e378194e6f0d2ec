/** Bodies up to this size, in bytes, are always taken: a cancellation must get through. */
const passingBytes = 64 * 1024;

/** The memory that bodies of requests may take together, in bytes. */
export class BodyBudget {
  readonly #mostBytes: number;
  #heldBytes = 0;

  constructor(mostBytes: number) {
    this.#mostBytes = mostBytes;
  }

  /** The share of one body, which grows as it comes in and is returned when disposed of. */
  open(): BodyShare {
    let bytes = 0;
    let charged = 0;
    return {
      grow: (more) => {
        bytes += more;
        if (bytes <= passingBytes) return true;
        const next = bytes - charged;
        if (this.#heldBytes + next > this.#mostBytes) return false;
        this.#heldBytes += next;
        charged = bytes;
        return true;
      },
      [Symbol.dispose]: () => {
        this.#heldBytes -= charged;
        charged = 0;
      },
    };
  }
}

export interface BodyShare extends Disposable {
  /** Adds `bytes` to the share. False when there is no room for them. */
  grow(bytes: number): boolean;
}
