/** The tolerance for sums of fractions that fall short of a whole token. */
const rounding = 1e-6;

/**
 * A token bucket: it holds at most `capacity` tokens, and gets `capacity` tokens in each period. With null it
 * is never empty.
 */
export class TokenBucket {
  readonly capacity: number;
  readonly #perMillisecond: number;
  #tokens: number;
  #filledAt: number;

  constructor(capacity: number | null, periodMilliseconds: number, now: number) {
    this.capacity = capacity ?? Number.POSITIVE_INFINITY;
    this.#perMillisecond = this.capacity / periodMilliseconds;
    this.#tokens = this.capacity;
    this.#filledAt = now;
  }

  /** Takes tokens, even if it has fewer and has to owe them. */
  take(tokens: number, now: number): void {
    this.#fill(now);
    this.#tokens -= tokens;
  }

  /** Returns the whole milliseconds until it holds a token, or 0 if it does. */
  millisecondsUntilOne(now: number): number {
    this.#fill(now);
    const missing = 1 - rounding - this.#tokens;
    return missing <= 0 ? 0 : Math.ceil(missing / this.#perMillisecond);
  }

  isFull(now: number): boolean {
    this.#fill(now);
    return this.#tokens >= this.capacity - rounding || this.capacity === Number.POSITIVE_INFINITY;
  }

  #fill(now: number): void {
    if (this.capacity !== Number.POSITIVE_INFINITY)
      this.#tokens = Math.min(this.capacity, this.#tokens + (now - this.#filledAt) * this.#perMillisecond);
    this.#filledAt = now;
  }
}
