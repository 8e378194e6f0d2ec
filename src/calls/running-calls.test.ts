import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { Type } from "@sinclair/typebox";
import { type Refusal, refuse } from "../base/errors.ts";
import { createLog } from "../base/log/log.ts";
import type { Deadline } from "../base/scheduling/deadline.ts";
import { definerFor, type Services } from "./contract/definition.ts";
import { createInvoke } from "./invoke.ts";
import { RunningCalls } from "./running-calls.ts";

const log = createLog({ level: "error", form: "text", write: () => {} });

/** Returns the calls of one function that writes, and a way to call it. */
function callsOf(handle: (deadline: Deadline) => Promise<unknown>, more: Partial<Services> = {}) {
  const running = new RunningCalls();
  const services: Services = {
    callMilliseconds: 60_000,
    renderError: (error) => ({ text: (error as Refusal).message, code: undefined }),
    ...more,
  };
  const definition = definerFor<Services>()({
    id: "test::write",
    since: "0.0.0",
    description: "",
    effect: "writes",
    paths: [],
    request: Type.Object({}),
    response: Type.Unknown(),
    examples: [],
    handle: (_, { deadline }) => handle(deadline),
  });
  const invoke = createInvoke(services, log, { running });
  return { running, call: () => invoke(definition, {}) };
}

/** Resolves to the refusal of the deadline when that has passed. */
const untilOver = ({ signal }: Deadline) =>
  new Promise<Refusal>((resolve) => signal.addEventListener("abort", () => resolve(signal.reason)));

const stopping = { error: refuse.stopping().message };

test("a call that ends by itself after the stop has its answer", async () => {
  const gate = Promise.withResolvers<string>();
  const { running, call } = callsOf(() => gate.promise);
  const answer = call();
  await setImmediate();
  const stopped = running.stop(60_000);
  gate.resolve("done");
  expect(await answer).toMatchObject({ answer: "done" });
  await stopped;
  expect(running.size).toBe(0);
});

test("a call that takes too long is ended, and the stop waits until it has rolled back", async () => {
  const rolledBack = Promise.withResolvers<void>();
  const { running, call } = callsOf(async (deadline) => {
    const refusal = await untilOver(deadline);
    expect(deadline.left).toBe(0);
    await rolledBack.promise;
    throw refusal;
  });
  const answer = call();
  let isStopped = false;
  const stopped = running.stop(1).then(() => {
    isStopped = true;
  });
  await new Promise((resolve) => running.signal.addEventListener("abort", resolve));
  await setImmediate();
  expect([isStopped, running.size]).toEqual([false, 1]);
  rolledBack.resolve();
  expect(await answer).toMatchObject(stopping);
  await stopped;
  expect(running.size).toBe(0);
});

test("a call has as much time left as the worker gives it", async () => {
  let deadline: Deadline | undefined;
  const { running, call } = callsOf(async (one) => {
    deadline = one;
    throw await untilOver(one);
  });
  const answer = call();
  await setImmediate();
  expect(deadline!.refusal.message).toBe(refuse.timeout(60_000).message);
  const stopped = running.stop(10_000);
  expect(deadline!.left).toBeLessThanOrEqual(10_000);
  expect(deadline!.refusal.message).toBe(stopping.error);
  await running.end();
  expect(await answer).toMatchObject(stopping);
  await stopped;
});

test("no call begins after the end, not even one that had waited", async () => {
  let begun = 0;
  const prepared = Promise.withResolvers<void>();
  const prepareWriting = () => prepared.promise;
  const { running, call } = callsOf(async () => begun++, { prepareWriting });
  const waiting = call();
  await setImmediate();
  const ended = running.end();
  prepared.resolve();
  await ended;
  expect([await waiting, await call()]).toMatchObject([stopping, stopping]);
  expect(begun).toBe(0);
});

test("a call that was answered too early is running until its work has ended", async () => {
  const work = Promise.withResolvers<void>();
  const { running, call } = callsOf(() => work.promise, { callMilliseconds: 1 });
  expect(await call()).toMatchObject({ error: refuse.lateWrite(1).message });
  await setImmediate();
  expect(running.size).toBe(1);
  const idle = running.idle();
  work.resolve();
  await idle;
  expect(running.size).toBe(0);
});
