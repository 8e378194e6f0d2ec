import { expect, spyOn, test } from "bun:test";
import { mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { createLog } from "../base/log/log.ts";
import type { FunctionDefinition } from "../calls/contract/definition.ts";
import { info } from "../coder/info.ts";
import { Feed } from "../filesystem/feed/feed.ts";
import { Subscription } from "../filesystem/feed/subscription.ts";
import { ReloadableWorker } from "./reload.ts";

/** Opens a worker with feeds that open when the test says so, and counts the ended subscriptions to them. */
async function openWorker() {
  const folder = realpathSync(mkdtempSync(join(tmpdir(), "coder-")));
  const configFile = join(folder, "config.yaml");
  writeFileSync(configFile, `base_path: ${folder}\n`);
  const opened: ((seq: number) => void)[] = [];
  const newest = spyOn(Feed.prototype, "newest").mockImplementation(
    () => new Promise((resolve) => opened.push(resolve)),
  );
  const end = spyOn(Subscription.prototype, "end");
  const log = createLog({ level: "error", form: "text", write: () => {} });
  const opening = {
    name: "serve",
    worker: "coder",
    logLevel: "error",
    readOnly: false,
    environment: {},
  } as const;
  const worker = await ReloadableWorker.open({ ...opening, configFile, basePath: undefined }, log);
  return {
    worker,
    openTrigger: () => worker.triggers[0]!.open({ coalesce_ms: 60_000 }, async () => "delivered"),
    attempts: () => opened.length,
    /** Opens the feed of an attempt, and resolves when its waiters have continued. */
    async openFeed(attempt: number) {
      opened[attempt]!(0);
      await new Promise((resolve) => setImmediate(resolve));
    },
    ended: () => new Set(end.mock.contexts).size,
    async [Symbol.asyncDispose]() {
      for (const spy of [newest, end]) spy.mockRestore();
      await worker.close();
      rmSync(folder, { recursive: true });
    },
  };
}

test("a trigger that two reloads open again at once is open once, in whatever order", async () => {
  await using test = await openWorker();
  const open = test.openTrigger();
  await test.openFeed(0);
  const endTrigger = await open;
  await test.worker.reload();
  await test.worker.reload();
  expect(test.attempts()).toBe(3);
  for (const attempt of [2, 1]) await test.openFeed(attempt);
  endTrigger();
  expect(test.ended()).toBe(3);
});

test("a trigger that is not open yet when a reload comes is opened again", async () => {
  await using test = await openWorker();
  const open = test.openTrigger();
  await test.worker.reload();
  await test.openFeed(0);
  expect([test.attempts(), test.ended()]).toEqual([2, 1]);
  await test.openFeed(1);
  (await open)();
  expect(test.ended()).toBe(2);
});

test("the services of a call that a reload replaces stay open until the call has ended", async () => {
  await using test = await openWorker();
  const work = Promise.withResolvers<void>();
  const closed = Promise.withResolvers<void>();
  const { runtime } = test.worker;
  const { close } = runtime;
  let isClosed = false;
  spyOn(runtime, "close").mockImplementation(async () => {
    isClosed = true;
    await close();
    closed.resolve();
  });
  const answer = test.worker.invoke({ ...info, handle: () => work.promise } as FunctionDefinition, {});
  await test.worker.reload();
  await new Promise((resolve) => setImmediate(resolve));
  expect(isClosed).toBe(false);
  work.resolve();
  await answer;
  await closed.promise;
});

test("a stop waits for the calls of all generations", async () => {
  await using test = await openWorker();
  const work = Promise.withResolvers<void>();
  const answer = test.worker.invoke({ ...info, handle: () => work.promise } as FunctionDefinition, {});
  await test.worker.reload();
  let isStopped = false;
  const stopped = test.worker.stop(1).then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => setTimeout(resolve, 2));
  expect(isStopped).toBe(false);
  work.resolve();
  await Promise.all([answer, stopped]);
  expect(isStopped).toBe(true);
});

test("a stop waits for services that a reload has replaced and that are still being closed", async () => {
  const test = await openWorker();
  const [closing, closed] = [Promise.withResolvers<void>(), Promise.withResolvers<void>()];
  const ends: string[] = [];
  const { runtime } = test.worker;
  const { close } = runtime;
  spyOn(runtime, "close").mockImplementation(async () => {
    closing.resolve();
    await closed.promise;
    await close();
    ends.push("replaced");
  });
  await test.worker.reload();
  await closing.promise;
  const { runtime: current } = test.worker;
  const closeCurrent = current.close;
  spyOn(current, "close").mockImplementation(async () => {
    await closeCurrent();
    setImmediate(closed.resolve);
  });
  await test[Symbol.asyncDispose]();
  expect(ends).toEqual(["replaced"]);
});
