/** Holds the leases of answers that a transport has not sent, and releases them as the bytes leave. */
import type { AnswerLease } from "../../calls/contract/origin.ts";

/** The write buffer of a connection. Figures are in bytes. */
export interface Outlet {
  /** Returns the bytes that it has not sent, or `undefined` without a connection. */
  unsentBytes(): number | undefined;
  /** Returns the bytes that an engine inside this process holds for one caller. */
  unsentBytesTo?(caller: string): number;
  /** Ends the connection; its unsent bytes are lost. */
  cut(): void;
}

/**
 * The milliseconds between two polls while answers are unsent. On Bun no transport reports that its buffer
 * has shrunk.
 */
const everyMilliseconds = 5;

/**
 * The unsent bytes that cause the connection to be cut. The budget of answers stays far below that; only
 * errors to the calls of an engine that never reads exceed it.
 */
const maxUnsentBytes = 256 * 1024 * 1024;

interface Answer {
  readonly lease: AnswerLease;
  readonly caller: string;
}

export class UnsentAnswers {
  readonly #outlet: Outlet;
  /** The answers written to the connection, oldest first. */
  #handedOver: Answer[] = [];
  /** The answers that are sent but perhaps not read yet: by caller, oldest first. */
  readonly #forwarded = new Map<string, Answer[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  /** Adds an answer that the connection gets within one turn of the event loop. */
  add(lease: AnswerLease, caller: string): void {
    this.#handedOver.push({ lease, caller });
    this.#pollSoon();
  }

  #pollSoon(): void {
    this.#timer ??= setTimeout(() => this.#poll(), everyMilliseconds).unref();
  }

  #poll(): void {
    this.#timer = undefined;
    this.#passOn();
    this.#release();
    if (this.#handedOver.length + this.#forwarded.size > 0) this.#pollSoon();
  }

  #passOn(): void {
    const unsent = this.#outlet.unsentBytes();
    if (unsent === undefined) return;
    if (unsent > maxUnsentBytes) this.#outlet.cut();
    const { sent, kept } = split(this.#handedOver, unsent);
    this.#handedOver = kept;
    for (const answer of sent) {
      const others = this.#forwarded.get(answer.caller);
      if (others === undefined) this.#forwarded.set(answer.caller, [answer]);
      else others.push(answer);
    }
  }

  #release(): void {
    for (const [caller, answers] of this.#forwarded) {
      const { sent, kept } = split(answers, this.#outlet.unsentBytesTo?.(caller) ?? 0);
      for (const { lease } of sent) lease.release();
      if (kept.length > 0) this.#forwarded.set(caller, kept);
      else this.#forwarded.delete(caller);
    }
  }
}

/**
 * Splits answers into sent and unsent. A buffer is first in, first out, so its `unsent` bytes are its newest
 * answers.
 */
function split(answers: readonly Answer[], unsent: number) {
  let from = answers.length;
  for (let newer = 0; from > 0 && newer < unsent; from--) newer += answers[from - 1]!.lease.bytes;
  return { sent: answers.slice(0, from), kept: answers.slice(from) };
}
