import { expect, test } from "bun:test";
import { Jobs } from "./jobs.ts";
import type { RunningProgram } from "./running.ts";

test("what the system protects is told, and not called killed", async () => {
  const jobs = new Jobs({
    maxRunning: 1,
    isPrivate: false,
    maxRunMs: 0,
    maxAgeMs: 1,
    maxCount: 1,
    maxBytes: 1,
  });
  const ended = Promise.withResolvers<void>();
  const stuck = {
    exited: new Promise(() => {}),
    drained: new Promise(() => {}),
    ended: ended.promise,
    exitCode: null,
    isGone: false,
    mayEnd: () => true,
    end: async () => ended.resolve(),
    capture: () => ({}),
  } as unknown as RunningProgram;
  const id = await jobs.startProgram({ argv: ["sudo"], owner: undefined }, async () => stuck);
  expect(await jobs.kill(id, undefined)).toEqual({
    job_id: id,
    killed: false,
    status: "killed",
    reason: expect.stringContaining("another user"),
  });
});
