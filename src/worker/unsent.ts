/** Answers that a transport holds and has not sent. Their leases are released as the bytes go out. */
import type { AnswerLease } from "../contract/definition.ts";

/** A connection as far as it buffers what is written to it. Figures are in bytes. */
export interface Outlet {
  /** Bytes that it has not sent; undefined while there is no connection. */
  unsentBytes(): number | undefined;
  /** Bytes that lie further on for one caller, in an engine inside this process. */
  unsentBytesTo?(caller: string): number;
  /** Ends the connection, and what it has not sent is lost. */
  cut(): void;
}

/** The interval of polls, in milliseconds, while answers are unsent: on Bun no transport reports that its buffer has shrunk. */
const everyMilliseconds = 5;

/**
 * Unsent bytes that end the connection. The budget of answers keeps it far from that: what is left are errors to calls
 * that an engine sends without ever reading.
 */
const mostUnsentBytes = 256 * 1024 * 1024;

interface Answer {
  readonly lease: AnswerLease;
  readonly caller: string;
}

export class UnsentAnswers {
  readonly #outlet: Outlet;
  /** Handed to the connection, oldest first. */
  #handedOver: Answer[] = [];
  /** Sent over it, and perhaps not yet read: by caller, oldest first. */
  readonly #forwarded = new Map<string, Answer[]>();
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(outlet: Outlet) {
    this.#outlet = outlet;
  }

  /** Notes an answer that is about to be handed to the connection, at the latest a turn of the event loop later. */
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
    if (unsent > mostUnsentBytes) this.#outlet.cut();
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

/** A buffer is first in, first out: the `unsent` bytes in it are its newest answers. */
function split(answers: readonly Answer[], unsent: number) {
  let from = answers.length;
  for (let newer = 0; from > 0 && newer < unsent; from--) newer += answers[from - 1]!.lease.bytes;
  return { sent: answers.slice(0, from), kept: answers.slice(from) };
}
