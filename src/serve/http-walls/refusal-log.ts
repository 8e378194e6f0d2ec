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
  /** The newest refusal without a line, and the number of those before it. */
  #unlogged: { readonly newest: Refused; readonly more: number } | undefined;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(log: Log, message: string, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#message = message;
    this.#now = now;
  }

  /** Logs a refusal, or counts it for the next line. */
  add(newest: Refused): void {
    const more = this.#unlogged === undefined ? 0 : this.#unlogged.more + 1;
    this.#unlogged = { newest, more };
    const left = this.#last + everyMilliseconds - this.#now();
    if (left <= 0) this.flush();
    else this.#timer ??= setTimeout(() => this.flush(), left).unref();
  }

  /** Logs the refusals without a line, if any: when the second is over, and when the server closes. */
  flush(): void {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#unlogged === undefined) return;
    const { newest, more } = this.#unlogged;
    this.#unlogged = undefined;
    this.#last = this.#now();
    this.#log.warn(this.#message, { ...newest, ...(more > 0 && { more }) });
  }
}
