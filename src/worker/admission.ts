/**
 * Admission control: which calls begin, and when. What calls under way hold of requests is bounded, and long calls wait for
 * their turns, in which their callers alternate (coder §21).
 */
import type { Deadline } from "../scheduling/deadline.ts";
import { KeyedCount } from "../scheduling/keyed-count.ts";
import { createSemaphore } from "../scheduling/semaphore.ts";
import { memoryBytes } from "../text/memory-size.ts";
import { refuseAdmission } from "./errors.ts";

export interface AdmissionOptions {
  /** Long calls at once. A single caller has at most half of them. */
  readonly longCalls?: number;
  /** Most long calls that wait at once, and half of that for a single caller. */
  readonly mostWaiting?: number;
  /** Most bytes of the requests of all calls under way, and half of that for a single caller. */
  readonly requestBytes?: number;
  /** Milliseconds after which a long call begins beside those that come to no end. */
  readonly patience?: number;
}

const mebibyte = 1024 * 1024;

export class Admission {
  readonly #turns;
  readonly #mostWaiting: number;
  readonly #requestBytes: number;
  readonly #heldBytes = new KeyedCount();

  constructor({
    longCalls = 16,
    mostWaiting = 4096,
    requestBytes = 256 * mebibyte,
    patience = 1000,
  }: AdmissionOptions = {}) {
    this.#turns = createSemaphore({ permits: longCalls, perKey: longCalls / 2, patience });
    this.#mostWaiting = mostWaiting;
    this.#requestBytes = requestBytes;
  }

  /** Counts a request until disposed of. Throws over-quota when the others leave it no room; alone it has some. */
  hold(caller: string | undefined, payload: unknown): Disposable {
    const bytes = memoryBytes(payload);
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
   * A turn for a long call, to be disposed of: at once, or when the promise resolves. Throws over-quota when too many wait,
   * and rejects with the deadline's reason.
   */
  start(caller: string | undefined, deadline: Deadline): Disposable | Promise<Disposable> {
    const free = this.#turns.tryAcquire(caller);
    if (free !== undefined) return free;
    const { all, underKey } = this.#turns.waiting(caller);
    if (all >= this.#mostWaiting || underKey >= this.#mostWaiting / 2) throw refuseAdmission.manyWaiting(all);
    return this.#turns.acquire({ key: caller, signal: deadline.signal });
  }
}
