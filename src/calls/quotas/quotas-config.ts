/** The configuration key `quotas` of both workers. */
import { type Static, Type } from "@sinclair/typebox";
import { Quotas } from "./quotas.ts";

const Limit = (maximum: number) =>
  Type.Union([Type.Integer({ minimum: 1, maximum }), Type.Null()], { default: null });

/** Returns the schema of the key. `code` is that of a call over a quota. */
export const QuotasKey = (code: string) =>
  Type.Union(
    [
      Type.Null(),
      Type.Object({
        calls_per_second: Limit(1_000_000),
        bytes_per_minute: Limit(1024 ** 4),
        concurrent_calls: Limit(100_000),
      }),
    ],
    {
      default: null,
      description: `What each caller may do, a caller being the name of the worker that calls over the bus, whatever its connection (all others are one): a mapping of calls_per_second, bytes_per_minute (of answers) and concurrent_calls; null for no limit. A call above one is ${code} at once, with the milliseconds until the next would be admitted.`,
    },
  );

/** Opens the quotas, if any are configured. */
export const openQuotas = (config: Static<ReturnType<typeof QuotasKey>>): Quotas | undefined =>
  config === null ? undefined : new Quotas(config);
