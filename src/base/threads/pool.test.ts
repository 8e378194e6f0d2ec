import { afterEach, expect, test } from "bun:test";
import { type ReplaceJob, type ReplaceReply, readReply } from "../../text/regex/replace.ts";
import { createRegexEngine } from "../../text/regex/rust-regex.ts";
import { Pool, ThreadEnded } from "./pool.ts";
import { spawnThread } from "./spawn.ts";

const engine = createRegexEngine();
const pools: Pool<ReplaceJob, ReplaceReply>[] = [];

afterEach(async () => {
  await Promise.all(pools.splice(0).map((pool) => pool.close()));
});

function openPool(size: number, depth: number) {
  const pool = new Pool<ReplaceJob, ReplaceReply>({ program: "text/regex", size, depth });
  pools.push(pool);
  return pool;
}

const job = (pattern: string, body: string): ReplaceJob => ({
  engine: { module: engine.module, bytes: 0 },
  pattern,
  replacement: "$0$0",
  body: new Uint8Array(Buffer.from(body)),
  maxBytes: 1_000_000,
});

const textOf = (reply: ReplaceReply) => Buffer.from(readReply(reply).body ?? []).toString();

/** A job that takes minutes. */
const endless = job("(?:a|b|ab|ba){1,20000}c|[ab]{1,20000}d", "ab".repeat(200_000));

test("answers more jobs than it has threads, each with its own reply", async () => {
  const pool = openPool(2, 2);
  const replies = Array.from({ length: 20 }, (_, i) => pool.run(job("\\d+", `n${i}`)).reply);
  const texts = (await Promise.all(replies)).map(textOf);
  expect(texts).toEqual(Array.from({ length: 20 }, (_, i) => `n${i}${i}`));
});

test("work that is given up ends, and what waited behind it is done", async () => {
  const pool = openPool(1, 3);
  const first = pool.run(endless);
  const second = pool.run(job("a", "a"));
  const third = pool.run(job("b", "b"));
  first.cancel();
  await expect(first.reply).rejects.toBeInstanceOf(ThreadEnded);
  expect(textOf(await second.reply)).toBe("aa");
  expect(textOf(await third.reply)).toBe("bb");
});

test("a job that waits can be given up without harm to the one before it", async () => {
  const pool = openPool(1, 2);
  const [first, second, third] = ["a", "b", "c"].map((text) => pool.run(job("\\w", text)));
  second?.cancel();
  await expect(second?.reply).rejects.toBeInstanceOf(ThreadEnded);
  expect(textOf((await first?.reply) as ReplaceReply)).toBe("aa");
  expect(textOf((await third?.reply) as ReplaceReply)).toBe("cc");
});

test("a thread that is stuck holds nobody up", async () => {
  const pool = openPool(1, 2);
  const stuck = pool.run(endless);
  expect(textOf(await pool.run(job("a", "a")).reply)).toBe("aa");
  stuck.cancel();
  await expect(stuck.reply).rejects.toBeInstanceOf(ThreadEnded);
});

test("a job that breaks its thread is rejected, and the next one has another", async () => {
  const pool = openPool(1, 1);
  await expect(pool.run(null as unknown as ReplaceJob).reply).resolves.toMatchObject({
    failure: "TypeError",
  });
  expect(textOf(await pool.run(job("a", "a")).reply)).toBe("aa");
});

test("closing rejects what is under way and what comes after", async () => {
  const pool = openPool(1, 1);
  const replies = [pool.run(endless).reply, pool.run(endless).reply];
  const outcomes = Promise.allSettled(replies);
  await pool.close();
  expect((await outcomes).map(({ status }) => status)).toEqual(["rejected", "rejected"]);
  await expect(pool.run(job("a", "a")).reply).rejects.toBeInstanceOf(ThreadEnded);
});

test("a job for which no thread can start is refused at once, and nothing is left of it", async () => {
  let fails = true;
  const pool = new Pool<ReplaceJob, ReplaceReply>({
    program: "text/regex",
    size: 1,
    depth: 1,
    spawn: (program) => {
      if (fails) throw new Error("no thread");
      return spawnThread(program);
    },
  });
  pools.push(pool);
  expect(() => pool.run(job("a", "a"))).toThrow("no thread");
  fails = false;
  expect(textOf(await pool.run(job("b", "b")).reply)).toBe("bb");
  // A rejection without a handler would fail the test.
  await pool.close();
});

test("idle threads end, and the next job has a new one", async () => {
  const ended = Promise.withResolvers<void>();
  const pool = new Pool<ReplaceJob, ReplaceReply>({
    program: "text/regex",
    size: 1,
    depth: 1,
    idleMilliseconds: 1,
    spawn: (program) => {
      const thread = spawnThread(program);
      thread.onEnd(ended.resolve);
      return thread;
    },
  });
  pools.push(pool);
  expect(textOf(await pool.run(job("a", "a")).reply)).toBe("aa");
  expect(pool.isReady).toBe(true);
  await ended.promise;
  expect(textOf(await pool.run(job("b", "b")).reply)).toBe("bb");
});
