import { afterEach, expect, test } from "bun:test";
import type { JobRecord } from "./records.ts";
import { createRetention, type Retention, type RetentionLimits } from "./retention.ts";

const opened: Retention[] = [];
afterEach(() => {
  for (const retention of opened.splice(0)) retention.close();
});

function open(limits: Partial<RetentionLimits>) {
  const clock = { now: 0 };
  const dropped: string[] = [];
  const all = { maxAgeMs: 1000, maxCount: 10, maxBytes: 1000, ...limits };
  const retention = createRetention(
    all,
    () => clock.now,
    (id) => dropped.push(id),
  );
  opened.push(retention);
  const add = (id: string, stdout = "") => retention.add(ended(id, stdout, clock.now));
  return { retention, clock, dropped, add };
}

const ended = (id: string, stdout: string, at: number): JobRecord => ({
  id,
  argv: [],
  started_at_ms: 0,
  finished_at_ms: at,
  status: "finished",
  exit_code: 0,
  stdout,
  stderr: "",
  stdout_truncated: false,
  stderr_truncated: false,
});

test("a job is kept for its time and not a millisecond longer", () => {
  const { retention, clock, dropped, add } = open({ maxAgeMs: 1000 });
  add("a");
  clock.now = 1000;
  retention.prune();
  expect(dropped).toEqual([]);
  clock.now = 1001;
  retention.prune();
  expect(dropped).toEqual(["a"]);
});

test("too many jobs push out the oldest", () => {
  const { dropped, add } = open({ maxCount: 2 });
  for (const id of ["a", "b", "c", "d"]) add(id);
  expect(dropped).toEqual(["a", "b"]);
});

test("too many bytes push out the oldest, but never the last", () => {
  const { dropped, add } = open({ maxBytes: 10 });
  add("a", "12345");
  add("b", "é1234");
  expect(dropped).toEqual(["a"]);
  add("c", "x".repeat(100));
  expect(dropped).toEqual(["a", "b"]);
});

test("a job goes when its time is over, without a call", async () => {
  const gone = new Promise<string>((resolve) => {
    const retention = createRetention({ maxAgeMs: 0, maxCount: 9, maxBytes: 9 }, Date.now, resolve);
    opened.push(retention);
    retention.add(ended("a", "", Date.now()));
  });
  // The timer of the retention does not keep a process alive.
  const alive = setInterval(() => {}, 1000);
  expect(await gone).toBe("a");
  clearInterval(alive);
});
