/** What a silence calls for: a warning once, then the end. */
export type Verdict = "alive" | "warn" | "end" | "back";

export interface Limits {
  /** How often it is looked at. */
  readonly tickMilliseconds: number;
  /** A silence after which a warning is due; it ends a process that is to stop. */
  readonly warnMilliseconds: number;
  /** A silence that ends the process. */
  readonly endMilliseconds: number;
}

/**
 * Counts the ticks since the last beat. Not the time: of a process that was stopped, or a machine that slept, the thread
 * that counts stood still too.
 */
export class Silence {
  readonly #limits: Limits;
  #beats: number | undefined;
  #ticks = 0;
  #hasWarned = false;

  constructor(limits: Limits) {
    this.#limits = limits;
  }

  /** To be called each tick with the number of beats until then, and whether the process is to stop. */
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
