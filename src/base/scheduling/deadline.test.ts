import { describe, expect, test } from "bun:test";
import { Refusal } from "../errors.ts";
import { deadlineIn } from "./deadline.ts";

describe("a deadline", () => {
  test("passes when the time is up", async () => {
    const deadline = deadlineIn(1);
    await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
    expect(deadline.signal.reason).toBeInstanceOf(Refusal);
    expect(deadline.left).toBe(0);
    expect(() => deadline.check()).toThrow("did not finish within 1 ms");
  });

  test("counts from the start it is told", () => {
    const deadline = deadlineIn(1000, undefined, { start: performance.now() - 1000 });
    expect(deadline.left).toBe(0);
    expect(() => deadline.check()).toThrow("did not finish within 1000 ms");
    deadline.end();
  });

  test("counts from its restart", async () => {
    const deadline = deadlineIn(60_000, undefined, { start: performance.now() - 60_001 });
    await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
    deadline.restart();
    expect(deadline.left).toBeGreaterThan(50_000);
    expect(deadline.signal.aborted).toBe(false);
    expect(() => deadline.check()).not.toThrow();
    deadline.end();
  });

  test("has passed by the clock when it has by the signal: a timer may fire early", async () => {
    const now = performance.now;
    const deadline = deadlineIn(1);
    const started = now.call(performance);
    try {
      performance.now = () => started;
      await new Promise((resolve) => deadline.signal.addEventListener("abort", resolve));
      expect(deadline.left).toBe(0);
      expect(() => deadline.check()).toThrow("did not finish");
    } finally {
      performance.now = now;
    }
  });

  test("has passed at once when the caller cancels", () => {
    const caller = new AbortController();
    const deadline = deadlineIn(60_000, caller.signal);
    const { signal } = deadline;
    expect(() => deadline.check()).not.toThrow();
    expect(deadline.left).toBeGreaterThan(0);
    caller.abort();
    expect(signal.aborted).toBe(true);
    expect((signal.reason as Error).message).toContain("cancelled");
    expect(deadline.left).toBe(0);
    expect(() => deadline.check()).toThrow("cancelled");
    deadline.end();
  });

  test("has passed at once when its worker stops, and has no more time left before than that", () => {
    const ending = new AbortController();
    const stop = { at: Number.POSITIVE_INFINITY, signal: ending.signal };
    const deadline = deadlineIn(60_000, undefined, { stop });
    const { signal } = deadline;
    expect(deadline.left).toBeGreaterThan(50_000);
    stop.at = performance.now() + 1000;
    expect(deadline.left).toBeLessThanOrEqual(1000);
    expect(() => deadline.check()).not.toThrow();
    deadline.restart();
    expect(deadline.left).toBeLessThanOrEqual(1000);
    const restarted = deadline.signal;
    ending.abort();
    expect([signal.aborted, restarted.aborted]).toEqual([false, true]);
    expect((restarted.reason as Error).message).toContain("was told to end");
    expect(deadline.left).toBe(0);
    expect(() => deadline.check()).toThrow("was told to end");
    deadline.end();
  });

  test("has the refusal of the deadline that ends it", () => {
    const ending = new AbortController();
    const outer = deadlineIn(60_000, undefined, {
      stop: { at: Number.POSITIVE_INFINITY, signal: ending.signal },
    });
    const inner = deadlineIn(1000, outer.signal);
    ending.abort();
    expect(inner.refusal).toMatchObject({ ending: "stop", message: outer.refusal.message });
    expect(() => inner.check()).toThrow("was told to end");
    for (const deadline of [inner, outer]) deadline.end();
  });

  test("has passed before its signal was asked for", () => {
    const deadline = deadlineIn(60_000, AbortSignal.abort());
    expect(deadline.signal.aborted).toBe(true);
    deadline.end();
  });

  test("hears nothing any more when it has ended", () => {
    const caller = new AbortController();
    const deadline = deadlineIn(60_000, caller.signal);
    const { signal } = deadline;
    deadline.end();
    caller.abort();
    expect(signal.aborted).toBe(false);
  });
});
