import type { Log } from "../../base/log/log.ts";

/** Minimum milliseconds between two lines, so that a flood of requests does not flood the log. */
const everyMilliseconds = 1000;

/** A refused request, or a closed connection. */
export interface Refused {
  readonly peer: string | undefined;
  readonly reason: string;
  readonly status?: number;
}

/**
 * Logs requests or connections that were refused before they reached a session, without anything that a
 * client has sent.
 */
export class RefusalLog {
  readonly #log: Log;
  readonly #message: string;
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(log: Log, message: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#message = message;
    this.#now = now;
  }

  /** Logs a refusal, or counts it for the next line. */
  add(refused: Refused): void {
    const now = this.#now();
    if (now - this.#last < everyMilliseconds) {
      this.#unlogged++;
      return;
    }
    const more = this.#unlogged;
    this.#last = now;
    this.#unlogged = 0;
    this.#log.warn(this.#message, { ...refused, ...(more > 0 && { more }) });
  }
}
