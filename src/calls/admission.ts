/**
 * Admission control: decides which calls begin, and when. The memory that calls under way hold for requests
 * is bounded, and long calls wait for their turns, in which their callers alternate (coder §21).
 */
import type { Deadline } from "../base/scheduling/deadline.ts";
import { KeyedCount } from "../base/scheduling/keyed-count.ts";
import { createSemaphore } from "../base/scheduling/semaphore.ts";
import { refuseAdmission } from "./admission-errors.ts";

export interface AdmissionOptions {
  /** Maximum concurrent long calls. A single caller has at most half of them. */
  readonly longCalls?: number;
  /** Maximum waiting long calls, half of that for a single caller. */
  readonly maxWaiting?: number;
  /** Maximum bytes of the requests of all calls under way, half of that for a single caller. */
  readonly requestBytes?: number;
  /** The milliseconds after which a long call begins even though those under way have not ended. */
  readonly patience?: number;
}

const mebibyte = 1024 * 1024;

export class Admission {
  readonly #turns;
  readonly #maxWaiting: number;
  readonly #requestBytes: number;
  readonly #heldBytes = new KeyedCount();

  constructor({
    longCalls = 16,
    maxWaiting = 4096,
    requestBytes = 256 * mebibyte,
    patience = 1000,
  }: AdmissionOptions = {}) {
    this.#turns = createSemaphore({ permits: longCalls, perKey: longCalls / 2, patience });
    this.#maxWaiting = maxWaiting;
    this.#requestBytes = requestBytes;
  }

  /**
   * Counts the memory of a request until the result is disposed of. Throws over-quota if other requests leave
   * no room. A caller's only request always has room.
   */
  hold(caller: string | undefined, bytes: number): Disposable {
    const held = this.#heldBytes;
    const ofCaller = held.under(caller);
    const isOver = held.total + bytes > this.#requestBytes || ofCaller + bytes > this.#requestBytes / 2;
    if (ofCaller > 0 && isOver) throw refuseAdmission.manyRequestBytes(this.#requestBytes);
    held.add(caller, bytes);
    let isHeld = true;
    return {
      [Symbol.dispose]: () => {
        if (isHeld) held.add(caller, -bytes);
        isHeld = false;
      },
    };
  }

  /**
   * Returns a turn for a long call, at once or as a promise. The turn must be disposed of. Throws over-quota
   * if too many calls wait, and rejects with the deadline's reason.
   */
  start(caller: string | undefined, deadline: Deadline): Disposable | Promise<Disposable> {
    const free = this.#turns.tryAcquire(caller);
    if (free !== undefined) return free;
    const { all, underKey } = this.#turns.waiting(caller);
    if (all >= this.#maxWaiting || underKey >= this.#maxWaiting / 2) throw refuseAdmission.manyWaiting(all);
    return this.#turns.acquire({ key: caller, signal: deadline.signal });
  }
}
