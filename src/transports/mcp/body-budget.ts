/** Maximum bytes of a body that needs no budget. A cancellation must always get through. */
const passingBytes = 64 * 1024;

/** Bounds the total bytes of all bodies of requests. */
export class BodyBudget {
  readonly #maxBytes: number;
  #heldBytes = 0;

  constructor(maxBytes: number) {
    this.#maxBytes = maxBytes;
  }

  /** Opens the share of one body, which grows as chunks arrive. Disposing returns it to the budget. */
  open(): BodyShare {
    let bytes = 0;
    let charged = 0;
    return {
      grow: (more) => {
        bytes += more;
        if (bytes <= passingBytes) return true;
        const next = bytes - charged;
        if (this.#heldBytes + next > this.#maxBytes) return false;
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
  /** Adds `bytes` to the share. Returns false if they do not fit. */
  grow(bytes: number): boolean;
}
