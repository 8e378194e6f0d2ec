/**
 * Quotas of callers, as token buckets: calls per second, bytes of answers per minute, and concurrent calls. A
 * call over a quota is refused before it begins, and so costs nothing.
 */
import { refuseQuota } from "./quota-errors.ts";
import type { QuotaLimits, QuotaName } from "./quota-limits.ts";
import { TokenBucket } from "./token-bucket.ts";

/** A call that was admitted. */
export interface AdmittedCall {
  /** Called when the call has ended, with an answer of `bytes` bytes. */
  end(bytes: number): void;
}

interface Account {
  readonly calls: TokenBucket;
  readonly bytes: TokenBucket;
  underWay: number;
}

/** Number of accounts past which those that hold no more than a new one are removed. */
const maxAccounts = 1000;

export class Quotas {
  readonly #limits: QuotaLimits;
  readonly #now: () => number;
  readonly #accounts = new Map<string, Account>();

  /** Creates quotas. `now` returns the milliseconds of a monotonic clock. */
  constructor(limits: QuotaLimits, now: () => number = () => performance.now()) {
    this.#limits = limits;
    this.#now = now;
  }

  /** Admits a call of a worker; callers without an id share one account. Throws over-quota. */
  admit(caller = ""): AdmittedCall {
    const account = this.#accountOf(caller);
    this.#requireRoom(account);
    account.calls.take(1, this.#now());
    account.underWay++;
    return {
      end: (bytes) => {
        account.underWay--;
        account.bytes.take(bytes, this.#now());
      },
    };
  }

  #requireRoom({ calls, bytes, underWay }: Account): void {
    const { concurrent_calls: atOnce } = this.#limits;
    if (atOnce !== null && underWay >= atOnce)
      throw refuseQuota.exceeded({
        quota: "concurrent_calls",
        limit: atOnce,
        retryAfterMilliseconds: undefined,
      });
    requireTokens("calls_per_second", calls, this.#now());
    requireTokens("bytes_per_minute", bytes, this.#now());
  }

  #accountOf(caller: string): Account {
    const known = this.#accounts.get(caller);
    if (known !== undefined) return known;
    if (this.#accounts.size >= maxAccounts) this.#dropIdle();
    const { calls_per_second: calls, bytes_per_minute: bytes } = this.#limits;
    const account = {
      calls: new TokenBucket(calls, 1000, this.#now()),
      bytes: new TokenBucket(bytes, 60_000, this.#now()),
      underWay: 0,
    };
    this.#accounts.set(caller, account);
    return account;
  }

  #dropIdle(): void {
    const now = this.#now();
    for (const [caller, { calls, bytes, underWay }] of this.#accounts)
      if (underWay === 0 && calls.isFull(now) && bytes.isFull(now)) this.#accounts.delete(caller);
  }
}

function requireTokens(quota: QuotaName, bucket: TokenBucket, now: number): void {
  const retryAfterMilliseconds = bucket.millisecondsUntilOne(now);
  if (retryAfterMilliseconds > 0)
    throw refuseQuota.exceeded({ quota, limit: bucket.capacity, retryAfterMilliseconds });
}
