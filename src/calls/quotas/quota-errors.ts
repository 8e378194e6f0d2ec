import { Refusal } from "../../base/errors.ts";
import type { QuotaName } from "./quota-limits.ts";

interface Exceeded {
  readonly quota: QuotaName;
  readonly limit: number;
  /**
   * Milliseconds until a call would be admitted; `undefined` if another call of the caller has to end first.
   */
  readonly retryAfterMilliseconds: number | undefined;
}

/** Refusals that only quotas make. */
export const refuseQuota = {
  exceeded: ({ quota, limit, retryAfterMilliseconds: wait }: Exceeded): Refusal =>
    new Refusal(
      "over-quota",
      `This caller is over its quota ${quota} (${limit}). The call was not begun. ${wait === undefined ? "Send it again once another of your calls has been answered" : `Send it again in ${wait} ms`}.`,
      undefined,
      { details: { quota, limit, ...(wait !== undefined && { retry_after_ms: wait }) } },
    ),
} as const;
