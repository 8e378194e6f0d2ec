import type { IncomingMessage } from "node:http";
import type { Log } from "../../base/log/log.ts";

/** Minimum milliseconds between two lines, so that a flood of requests does not flood the log. */
const everyMilliseconds = 1000;

/** Logs requests that were refused before they reached a session, without anything that a client has sent. */
export class RefusalLog {
  readonly #log: Log;
  readonly #now: () => number;
  #last = Number.NEGATIVE_INFINITY;
  #unlogged = 0;

  constructor(log: Log, now: () => number = () => performance.now()) {
    this.#log = log;
    this.#now = now;
  }

  /** Logs a refusal, or counts it for the next line. */
  add({ socket }: Pick<IncomingMessage, "socket">, status: number, reason: string): void {
    const now = this.#now();
    if (now - this.#last < everyMilliseconds) {
      this.#unlogged++;
      return;
    }
    const more = this.#unlogged;
    this.#last = now;
    this.#unlogged = 0;
    const peer = socket.remoteAddress;
    this.#log.warn("request refused", { status, peer, reason, ...(more > 0 && { more }) });
  }
}
