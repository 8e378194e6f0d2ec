import { describe, expect, test } from "bun:test";
import fc from "fast-check";
import { Refusal } from "../../base/errors.ts";
import type { QuotaLimits } from "./quota-limits.ts";
import { Quotas } from "./quotas.ts";

const none: QuotaLimits = { calls_per_second: null, bytes_per_minute: null, concurrent_calls: null };

/** Creates quotas with a clock that the test sets. */
function quotasOf(limits: Partial<QuotaLimits>) {
  const clock = { now: 1_000_000 };
  return { clock, quotas: new Quotas({ ...none, ...limits }, () => clock.now) };
}

function detailsOf(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    if (error instanceof Refusal && error.reason === "over-quota") return error.details;
    throw error;
  }
  return undefined;
}

describe("quotas", () => {
  test("admit a burst of one second, and then as many as the second has", () => {
    const { clock, quotas } = quotasOf({ calls_per_second: 4 });
    for (let call = 0; call < 4; call++) quotas.admit("a").end(0);
    expect(detailsOf(() => quotas.admit("a"))).toEqual({
      quota: "calls_per_second",
      limit: 4,
      retry_after_ms: 250,
    });
    clock.now += 249;
    expect(detailsOf(() => quotas.admit("a"))).toMatchObject({ retry_after_ms: 1 });
    clock.now += 1;
    quotas.admit("a").end(0);
    expect(detailsOf(() => quotas.admit("a"))).toMatchObject({ retry_after_ms: 250 });
    clock.now += 60_000;
    for (let call = 0; call < 4; call++) quotas.admit("a").end(0);
    expect(detailsOf(() => quotas.admit("a"))).toBeDefined();
  });

  test("count each caller alone, and those without an id together", () => {
    const { quotas } = quotasOf({ calls_per_second: 1 });
    for (const caller of ["a", "b", undefined]) quotas.admit(caller).end(0);
    for (const caller of ["a", "b", undefined]) expect(detailsOf(() => quotas.admit(caller))).toBeDefined();
  });

  test("give the answer that goes beyond the bytes, and wait for what it owes", () => {
    const { clock, quotas } = quotasOf({ bytes_per_minute: 6000 });
    quotas.admit("a").end(12_000);
    expect(detailsOf(() => quotas.admit("a"))).toEqual({
      quota: "bytes_per_minute",
      limit: 6000,
      retry_after_ms: 60_010,
    });
    clock.now += 60_010;
    quotas.admit("a").end(0);
  });

  test("free a place when a call has ended", () => {
    const { quotas } = quotasOf({ concurrent_calls: 2 });
    const first = quotas.admit("a");
    quotas.admit("a");
    expect(detailsOf(() => quotas.admit("a"))).toEqual({ quota: "concurrent_calls", limit: 2 });
    first.end(0);
    quotas.admit("a");
  });

  test("never admit more than the rate, and always after the time that they said", () => {
    const steps = fc.array(fc.tuple(fc.nat(400), fc.integer({ min: 1, max: 5 })), { maxLength: 60 });
    const holds = fc.property(fc.integer({ min: 1, max: 20 }), steps, (rate, script) => {
      const { clock, quotas } = quotasOf({ calls_per_second: rate });
      const started = clock.now;
      let admitted = 0;
      for (const [pause, calls] of script) {
        clock.now += pause;
        for (let call = 0; call < calls; call++) {
          const refused = detailsOf(() => quotas.admit("a")) as { retry_after_ms: number } | undefined;
          if (refused === undefined) admitted++;
          else {
            clock.now += refused.retry_after_ms;
            quotas.admit("a");
            admitted++;
          }
        }
      }
      expect(admitted).toBeLessThanOrEqual(rate + ((clock.now - started) * rate) / 1000 + 1e-3);
    });
    fc.assert(holds);
  });

  test("forget callers that are idle, and no other", () => {
    const { clock, quotas } = quotasOf({ calls_per_second: 1 });
    for (let caller = 0; caller < 1000; caller++) quotas.admit(`c${caller}`).end(0);
    quotas.admit("new");
    expect(detailsOf(() => quotas.admit("c0"))).toBeDefined();
    clock.now += 1000;
    quotas.admit("newer");
    expect(detailsOf(() => quotas.admit("newer"))).toBeDefined();
    expect(detailsOf(() => quotas.admit("c0"))).toBeUndefined();
  });
});
