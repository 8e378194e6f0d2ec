import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import type { ReplaceJob } from "../../text/regex/replace.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import { PooledThread, type Task, ThreadEnded } from "./pooled-thread.ts";
import { spawnThread } from "./spawn.ts";

/**
 * A job that takes minutes, in a single call into the engine: for each letter it searches for a "z" up to the
 * end of the line.
 */
const endless: ReplaceJob = {
  engine: { module: createRegexEngine().module, bytes: 0 },
  pattern: ".*z|a",
  replacement: "",
  body: new Uint8Array(Buffer.alloc(1_000_000, "a")),
  maxBytes: 1_000_000,
};

test("a thread that is ended in the midst of a call into the engine is soon gone", async () => {
  const gone = Promise.withResolvers<void>();
  const rejected = Promise.withResolvers<ThreadEnded>();
  const thread = new PooledThread(spawnThread("text/regex"), {
    onReady: () => {},
    onReply: () => rejected.reject(new Error("it was answered")),
    onEnd: (begun) => begun?.reject(new ThreadEnded("ended")),
    onGone: () => gone.resolve(),
  });
  const task: Task = { job: endless, resolve: () => {}, reject: rejected.resolve };
  thread.assign(task);
  // Nothing reports that the call has begun; half a second is more than enough to get there.
  while (!thread.isWorkingOn(task) || thread.busy < 500) await setImmediate();
  thread.end();
  expect(await rejected.promise).toBeInstanceOf(ThreadEnded);
  await gone.promise;
});
