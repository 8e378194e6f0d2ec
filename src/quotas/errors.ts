import { Refusal } from "../errors.ts";
import type { QuotaName } from "./quota-limits.ts";

interface Exceeded {
  readonly quota: QuotaName;
  /** What the configuration allows. */
  readonly limit: number;
  /** When a call would be admitted; unknown where another call of the caller has to end first. */
  readonly retryAfterMilliseconds: number | undefined;
}

/** What only quotas refuse. */
export const refuseQuota = {
  exceeded: ({ quota, limit, retryAfterMilliseconds: wait }: Exceeded): Refusal =>
    new Refusal(
      "over-quota",
      `This caller is over its quota ${quota} (${limit}). The call was not begun. ${wait === undefined ? "Send it again when another of your calls was answered" : `Send it again in ${wait} ms`}.`,
      undefined,
      { details: { quota, limit, ...(wait !== undefined && { retry_after_ms: wait }) } },
    ),
} as const;
