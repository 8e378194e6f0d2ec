/**
 * A weighted semaphore with fair queueing over the bytes of unsent answers in this process. A call waits for
 * its share before it reads a file, so that many small requests cannot fill the memory with answers. It
 * differs from `Semaphore` in a second limit for small answers, a share for each caller, and a charge that is
 * corrected once the answer exists.
 */
import type { Deadline } from "../base/scheduling/deadline.ts";
import { FairQueue, type Waiter } from "../base/scheduling/fair-queue.ts";
import { KeyedCount } from "../base/scheduling/keyed-count.ts";
import { refuseAdmission } from "./admission-errors.ts";
import type { AnswerLease } from "./contract/origin.ts";

export interface BudgetOptions {
  /** Maximum bytes of large unsent answers. A single caller has at most half of them. */
  readonly bytes?: number;
  /** Maximum bytes of small unsent answers, which therefore overtake large ones that wait. */
  readonly smallBytes?: number;
  /** Maximum waiting calls, half of that for a single caller. The budget refuses further ones. */
  readonly maxWaiting?: number;
}

const mebibyte = 1024 * 1024;

/** Maximum bytes of a small answer. */
const smallAnswerBytes = 64 * 1024;

/** The unsent bytes of answers of one size. */
class Account {
  readonly limit: number;
  readonly #held = new KeyedCount();

  constructor(limit: number) {
    this.limit = limit;
  }

  get isEmpty(): boolean {
    return this.#held.total === 0;
  }

  /** Returns whether `bytes` more fit. More than the whole limit fits if nothing else is held. */
  hasRoom(bytes: number): boolean {
    return this.#held.total === 0 || this.#held.total + bytes <= this.limit;
  }

  /** Returns whether the caller's half has room for `bytes` more, with the same exception. */
  hasShare(caller: string, bytes: number): boolean {
    const held = this.#held.under(caller);
    return held === 0 || held + bytes <= this.limit / 2;
  }

  add(caller: string, bytes: number): void {
    this.#held.add(caller, bytes);
  }
}

/** The charge of a call that waits. */
interface Charge {
  readonly account: Account;
  readonly caller: string;
  readonly bytes: number;
}

export class AnswerBudget {
  readonly #large: Account;
  readonly #small: Account;
  readonly #maxWaiting: number;
  readonly #queue = new FairQueue<Charge>();
  #isPumping = false;

  constructor({ bytes = 64 * mebibyte, smallBytes = 16 * mebibyte, maxWaiting = 4096 }: BudgetOptions = {}) {
    this.#large = new Account(bytes);
    this.#small = new Account(smallBytes);
    this.#maxWaiting = maxWaiting;
  }

  /** Returns an empty lease for one call of `caller`: a worker, a session or a connection. */
  lease(caller: string): AnswerLease {
    return new Lease(this, caller);
  }

  /**
   * Charges `bytes` now if no answer is held and no call waits, and returns whether it has. Then an answer of
   * any size has room.
   */
  acquireIfIdle(caller: string, bytes: number): boolean {
    if (!this.#large.isEmpty || !this.#small.isEmpty || this.#queue.size > 0) return false;
    this.#accountFor(bytes).add(caller, bytes);
    return true;
  }

  #accountFor(bytes: number): Account {
    return bytes <= smallAnswerBytes ? this.#small : this.#large;
  }

  /**
   * Charges `bytes` now and returns `undefined`, or charges them later at the caller's turn; see
   * `AnswerLease.reserve`.
   */
  acquire(caller: string, bytes: number, deadline: Deadline): Promise<void> | undefined {
    const account = this.#accountFor(bytes);
    const isFirst = account === this.#small || this.#queue.size === 0;
    if (!isFirst || !account.hasRoom(bytes) || !account.hasShare(caller, bytes))
      return this.#wait({ account, caller, bytes }, deadline);
    account.add(caller, bytes);
    return undefined;
  }

  /** Charges a caller `after` bytes instead of `before`. */
  recharge(caller: string, before: number, after: number): void {
    this.#accountFor(before).add(caller, -before);
    this.#accountFor(after).add(caller, after);
    if (after < before) this.#pump();
  }

  #pump(): void {
    if (this.#isPumping || this.#queue.size === 0) return;
    this.#isPumping = true;
    // Admit one call per turn of the event loop: each may make an answer of megabytes, and small calls must
    // not wait for all.
    setImmediate(() => {
      this.#isPumping = false;
      if (this.#admitNext()) this.#pump();
    });
  }

  async #wait(charge: Charge, { signal }: Deadline): Promise<void> {
    const { size } = this.#queue;
    if (size >= this.#maxWaiting || this.#queue.sizeOf(charge.caller) >= this.#maxWaiting / 2)
      throw refuseAdmission.manyWaiting(size);
    const turn = this.#queue.wait(charge.caller, charge, signal);
    // Calls ahead of this one may wait only for their own shares.
    this.#pump();
    try {
      await turn;
    } catch (error) {
      this.#pump();
      throw error;
    }
  }

  /**
   * Admits the oldest call of the first caller in turn whose share has room. Returns false if no caller's
   * has.
   */
  #admitNext(): boolean {
    const next = this.#next();
    if (next === undefined) return false;
    const { account, caller, bytes } = next.request;
    account.add(caller, bytes);
    this.#queue.admit(next);
    return true;
  }

  /**
   * Returns the next call to admit. Others overtake a caller whose own share is full; calls that wait for
   * room in the whole keep their order.
   */
  #next(): Waiter<Charge> | undefined {
    const full = new Set<Account>();
    for (const oldest of this.#queue.oldest()) {
      const { account, caller, bytes } = oldest.request;
      if (full.has(account) || !account.hasShare(caller, bytes)) continue;
      if (account.hasRoom(bytes)) return oldest;
      full.add(account);
    }
    return undefined;
  }
}

class Lease implements AnswerLease {
  readonly #budget: AnswerBudget;
  readonly #caller: string;
  #bytes = 0;
  #hasEnded = false;

  constructor(budget: AnswerBudget, caller: string) {
    this.#budget = budget;
    this.#caller = caller;
  }

  get bytes(): number {
    return this.#bytes;
  }

  reserve(bytes: number, deadline: Deadline): Promise<void> | undefined {
    const turn = this.#budget.acquire(this.#caller, bytes, deadline);
    if (turn !== undefined) return turn.then(() => this.#setBytes(bytes));
    this.#setBytes(bytes);
    return undefined;
  }

  reserveIfIdle(bytes: number): boolean {
    const isReserved = this.#budget.acquireIfIdle(this.#caller, bytes);
    if (isReserved) this.#setBytes(bytes);
    return isReserved;
  }

  /** Sets the charge. An abandoned answer holds nothing. */
  #setBytes(bytes: number): void {
    if (this.#hasEnded) this.#budget.recharge(this.#caller, bytes, 0);
    else this.#bytes = bytes;
  }

  resize(bytes: number): void {
    if (this.#hasEnded) return;
    const before = this.#bytes;
    this.#bytes = bytes;
    this.#budget.recharge(this.#caller, before, bytes);
  }

  release(): void {
    if (this.#hasEnded) return;
    this.resize(0);
    this.#hasEnded = true;
  }
}
