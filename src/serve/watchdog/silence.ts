/** The action to take: "warn" once during a silence, "end" the process, "back" after the silence. */
export type Verdict = "alive" | "warn" | "end" | "back";

export interface Limits {
  /** The interval of the ticks. */
  readonly tickMilliseconds: number;
  /** The length of a silence that causes a warning, or ends a process that is about to stop. */
  readonly warnMilliseconds: number;
  /** The length of a silence that ends the process. */
  readonly endMilliseconds: number;
}

/**
 * Counts the ticks since the last beat, not the time: while a process is stopped or a machine sleeps, the
 * counting thread stops too.
 */
export class Silence {
  readonly #limits: Limits;
  #beats: number | undefined;
  #ticks = 0;
  #hasWarned = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /**
   * Returns the verdict of a tick. Call it each tick with the number of beats so far, and whether the process
   * is about to stop.
   */
  tick(beats: number, isStopping = false): Verdict {
    if (beats !== this.#beats) return this.#noteBeat(beats);
    this.#ticks++;
    const { tickMilliseconds, warnMilliseconds, endMilliseconds } = this.#limits;
    const silent = this.#ticks * tickMilliseconds;
    if (silent >= (isStopping ? warnMilliseconds : endMilliseconds)) return "end";
    if (silent < warnMilliseconds || this.#hasWarned) return "alive";
    this.#hasWarned = true;
    return "warn";
  }

  #noteBeat(beats: number): Verdict {
    const wasSilent = this.#hasWarned;
    this.#beats = beats;
    this.#ticks = 0;
    this.#hasWarned = false;
    return wasSilent ? "back" : "alive";
  }
}
