/**
 * A weighted semaphore with fair queueing, over the bytes of answers that are made and not yet sent in this process.
 * A call waits for its share before it reads a file, so that many small requests cannot fill the memory with answers.
 * It is no `Semaphore`, since it has two limits, one for small answers, and a share for each caller, and since a charge is
 * corrected when the answer is there; those who wait stand in the same kind of queue.
 */
import { collectGarbage } from "../bun.ts";
import type { AnswerLease } from "../contract/definition.ts";
import { refuse } from "../errors.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { FairQueue, type Waiter } from "../scheduling/fair-queue.ts";

export interface BudgetOptions {
  /** Bytes of large answers that are made and not sent. A single caller has at most half of them. */
  readonly bytes?: number;
  /** The same of small answers, which so pass by the large ones that wait. */
  readonly smallBytes?: number;
  /** Calls that may wait at once; one more is refused. */
  readonly mostWaiting?: number;
}

const mebibyte = 1024 * 1024;

/** An answer up to this size is small. */
const smallAnswerBytes = 64 * 1024;

/** Bytes that are made and not sent, of one size of answers. */
class Account {
  readonly limit: number;
  #held = 0;
  readonly #byCaller = new Map<string, number>();

  constructor(limit: number) {
    this.limit = limit;
  }

  /** Whether `bytes` more fit. What exceeds the whole limit fits when nothing else is held. */
  hasRoom(bytes: number): boolean {
    return this.#held === 0 || this.#held + bytes <= this.limit;
  }

  /** Whether the caller's half has room for `bytes` more, with the same exception. */
  hasShare(caller: string, bytes: number): boolean {
    const held = this.#byCaller.get(caller) ?? 0;
    return held === 0 || held + bytes <= this.limit / 2;
  }

  add(caller: string, bytes: number): void {
    this.#held += bytes;
    const held = (this.#byCaller.get(caller) ?? 0) + bytes;
    if (held === 0) this.#byCaller.delete(caller);
    else this.#byCaller.set(caller, held);
  }
}

/** What a call that waits is to be charged. */
interface Charge {
  readonly account: Account;
  readonly caller: string;
  readonly bytes: number;
}

export class AnswerBudget {
  readonly #large: Account;
  readonly #small: Account;
  readonly #mostWaiting: number;
  readonly #queue = new FairQueue<Charge>();
  #sentBytes = 0;
  #isPumping = false;

  constructor({ bytes = 64 * mebibyte, smallBytes = 16 * mebibyte, mostWaiting = 4096 }: BudgetOptions = {}) {
    this.#large = new Account(bytes);
    this.#small = new Account(smallBytes);
    this.#mostWaiting = mostWaiting;
  }

  /** A lease of nothing yet, for one call of `caller`: a worker, a session or a connection. */
  lease(caller: string): AnswerLease {
    return new Lease(this, caller);
  }

  #accountFor(bytes: number): Account {
    return bytes <= smallAnswerBytes ? this.#small : this.#large;
  }

  /** Charges `bytes` now and returns undefined, or when it is the caller's turn; see `AnswerLease.reserve`. */
  acquire(caller: string, bytes: number, deadline: Deadline): Promise<void> | undefined {
    const account = this.#accountFor(bytes);
    const isFirst = account === this.#small || this.#queue.size === 0;
    if (!isFirst || !account.hasRoom(bytes) || !account.hasShare(caller, bytes))
      return this.#wait({ account, caller, bytes }, deadline);
    account.add(caller, bytes);
    return undefined;
  }

  /** Charges a caller `after` bytes in the place of `before`. */
  recharge(caller: string, before: number, after: number): void {
    this.#accountFor(before).add(caller, -before);
    this.#accountFor(after).add(caller, after);
    if (after < before) this.#pump();
  }

  /**
   * Notes that a large answer was sent: after as many as may be held at once, what they were made of is freed. Left to
   * itself the collector takes the size of the machine for a measure, which may be far more than this process may have.
   */
  noteSent(bytes: number): void {
    if (bytes <= smallAnswerBytes) return;
    this.#sentBytes += bytes;
    if (this.#sentBytes < this.#large.limit) return;
    this.#sentBytes = 0;
    collectGarbage();
  }

  #pump(): void {
    if (this.#isPumping || this.#queue.size === 0) return;
    this.#isPumping = true;
    // One call a turn of the event loop: each may make an answer of megabytes, and small calls must get through.
    setImmediate(() => {
      this.#isPumping = false;
      if (this.#admitNext()) this.#pump();
    });
  }

  async #wait(charge: Charge, { signal }: Deadline): Promise<void> {
    if (this.#queue.size >= this.#mostWaiting) throw refuse.busy(this.#mostWaiting);
    const turn = this.#queue.wait(charge.caller, charge, signal);
    // Those who wait already may be waiting for their own share only.
    this.#pump();
    try {
      await turn;
    } catch (error) {
      this.#pump();
      throw error;
    }
  }

  /** Admits the oldest call of the first caller in turn whose share has room. False when there is none. */
  #admitNext(): boolean {
    const next = this.#next();
    if (next === undefined) return false;
    const { account, caller, bytes } = next.wish;
    account.add(caller, bytes);
    this.#queue.admit(next);
    return true;
  }

  /** Others overtake a caller whose own share is full; calls that wait for room in the whole keep their order. */
  #next(): Waiter<Charge> | undefined {
    const full = new Set<Account>();
    for (const oldest of this.#queue.oldest()) {
      const { account, caller, bytes } = oldest.wish;
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

  /** An abandoned answer holds nothing. */
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
    this.#budget.noteSent(this.#bytes);
    this.resize(0);
    this.#hasEnded = true;
  }
}
