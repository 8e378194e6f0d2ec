import { expect, test } from "bun:test";
import { list } from "./list.ts";

test("the list is rendered job by job", () => {
  const job = { id: "job-1", status: "running", started_at_ms: Date.now(), argv: Array(10_000).fill("a") };
  const steps = list.render?.({ count: 250, jobs: Array(250).fill(job) } as never, {} as never, {});
  let count = 0;
  for (const _ of steps as Generator<void>) count++;
  expect(count).toBe(250);
});
