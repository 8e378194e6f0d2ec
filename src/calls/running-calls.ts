import type { Stop } from "../base/scheduling/deadline.ts";
import { InFlight } from "./in-flight.ts";

/** The milliseconds that calls have to roll back what they have begun, once they must end. */
const endingMilliseconds = 10_000;

/** The calls whose work has not ended, even if they were answered, and their end when the worker stops. */
export class RunningCalls implements Stop {
  readonly #inFlight = new InFlight();
  readonly #ending = new AbortController();
  /** The time of the stop, or of the latest end of a call since. */
  #since = 0;
  #graceMilliseconds = Number.POSITIVE_INFINITY;

  get at(): number {
    return this.#since + this.#graceMilliseconds;
  }

  get signal(): AbortSignal {
    return this.#ending.signal;
  }

  /** The number of calls. If it is not 0 after `end`, what these calls use must stay open. */
  get size(): number {
    return this.#inFlight.size;
  }

  /** Counts the work of a call until it has settled, and returns it. */
  add<T>(work: Promise<T>): Promise<T> {
    const note = () => {
      this.#since = performance.now();
    };
    work.then(note, note);
    return this.#inFlight.add(work);
  }

  /** Resolves when no call is running. */
  async idle(): Promise<void> {
    await this.#inFlight.settled(Number.POSITIVE_INFINITY);
  }

  /**
   * Lets calls finish, until none has ended for `milliseconds`; then ends them like `end`, which
   * refuses new calls too.
   */
  async stop(milliseconds: number): Promise<void> {
    this.#since = performance.now();
    this.#graceMilliseconds = milliseconds;
    await this.#inFlight.settled(milliseconds);
    if (this.size > 0) await this.end();
  }

  /**
   * Ends all calls at once, and those that come later before they begin. Resolves when none is running, which
   * includes rolling back, or after 10 s.
   */
  async end(): Promise<void> {
    this.#ending.abort();
    let timer: ReturnType<typeof setTimeout> | undefined;
    const late = new Promise<void>((resolve) => {
      timer = setTimeout(resolve, endingMilliseconds);
    });
    await Promise.race([this.#inFlight.settled(endingMilliseconds), late]);
    clearTimeout(timer);
  }
}
