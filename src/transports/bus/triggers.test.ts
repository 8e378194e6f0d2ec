import { afterEach, expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { type Behaviour, startProduction } from "../../../tests/harness/engines/production-router.ts";
import type { Fire, Redelivery, TriggerType } from "../../calls/contract/trigger.ts";
import { type JoinedWorker, RawWorker, settled } from "../../embedded-engine/raw-worker.test-kit.ts";
import { connect } from "./bus.ts";
import { Lines } from "./serve-bus.test-kit.ts";
import { Triggers } from "./triggers.ts";

const closing: (() => unknown)[] = [];

afterEach(async () => {
  for (const close of closing.splice(0).reverse()) await close();
});

/** Offers a type whose triggers are fired by the test. Events are sent again after `milliseconds`. */
async function offer(behaviour: Behaviour = {}, milliseconds = 60_000) {
  const engine = await startProduction(behaviour);
  const fires: Fire[] = [];
  const open = { count: 0, most: 0 };
  const type = {
    definition: { id: "test::changed", description: "" },
    async open(_: unknown, fire: Fire) {
      fires.push(fire);
      open.most = Math.max(open.most, ++open.count);
      return () => {
        open.count--;
        return "0:0";
      };
    },
  } as unknown as TriggerType;
  const lines = new Lines();
  const bus = connect(engine.url, { name: "provider", description: "" }, lines.log);
  const triggers = new Triggers(bus, [type], lines.log, milliseconds);
  await bus.trigger({ function_id: "engine::workers::list", payload: {} });
  closing.push(
    () => engine.stop(),
    () => bus.shutdown(),
  );
  const opened = async () => {
    while (fires.length === 0) await setImmediate();
    return fires[0]!;
  };
  return { engine, open, opened, triggers, lines };
}

const trigger = { type: "registertrigger", id: "t", trigger_type: "test::changed", config: {} };

/** Joins a worker with the function `test::got`, in a namespace if one is given. */
async function join(url: string, namespace?: string): Promise<JoinedWorker> {
  const worker = await RawWorker.join(url);
  closing.push(() => worker.socket.terminate());
  worker.send({ type: "registerfunction", id: "test::got" });
  worker.send({
    type: "invokefunction",
    function_id: "engine::workers::register",
    data: { name: "consumer", pid: 1, ...(namespace !== undefined && { namespace }) },
    action: { type: "void" },
  });
  await settled(worker);
  return worker;
}

const got = { ...trigger, function_id: "test::got" };

/** Skips the reports of registrations. */
async function nextCall(worker: RawWorker) {
  for (;;) {
    const frame = await worker.next();
    if (frame["type"] === "invokefunction") return frame;
  }
}

const answer = (worker: RawWorker, { invocation_id }: { invocation_id?: unknown }) =>
  worker.send({ type: "invocationresult", invocation_id, function_id: "test::got", result: {} });

test("a trigger that the engine sends twice in a row is opened once, and one that is taken back ends", async () => {
  const { engine, open, opened, triggers } = await offer();
  const consumer = await join(engine.url);
  consumer.send(got);
  consumer.send(got);
  await opened();
  consumer.send({ ...got, id: "u" });
  consumer.send({ type: "unregistertrigger", id: "u", trigger_type: "test::changed" });
  while (open.most < 2 || open.count !== 1) await setImmediate();
  await triggers.stop();
  expect(open).toEqual({ count: 0, most: 2 });
});

test("an event goes to the namespace of its trigger, in an engine that has them", async () => {
  const { engine, opened, lines } = await offer({ version: "0.23" });
  await join(engine.url, "other");
  const consumer = await join(engine.url, "proj1");
  consumer.send({ ...got, namespace: "proj1" });
  const fire = await opened();
  const fired = fire({ seq: 1 });
  const call = await nextCall(consumer);
  expect(call).toMatchObject({ data: { seq: 1 } });
  answer(consumer, call);
  expect(await fired).toBe("delivered");
  expect(lines.of("warn")).toEqual([]);
});

test("a function that does not exist is logged once, and again after it existed", async () => {
  const { engine, opened, lines } = await offer({ version: "0.23" });
  const consumer = await join(engine.url, "proj1");
  // It names no namespace, so the function would have to be in the default one.
  consumer.send(got);
  const fire = await opened();
  for (let time = 0; time < 3; time++) expect(await fire({})).toBe("absent");
  expect(lines.all.filter(({ level }) => level === "warn")).toMatchObject([
    {
      message: "the function of a trigger does not exist; its events wait",
      function: "test::got",
      trigger: "t",
    },
  ]);
  const other = await RawWorker.join(engine.url);
  other.send({ type: "registerfunction", id: "test::got" });
  other.send({
    type: "invokefunction",
    function_id: "engine::workers::register",
    data: { name: "late", pid: 1 },
    action: { type: "void" },
  });
  await settled(other);
  const fired = fire({});
  answer(other, await nextCall(other));
  expect(await fired).toBe("delivered");
  other.socket.terminate();
  while ((await fire({})) !== "absent") await setImmediate();
  expect(lines.of("warn")).toHaveLength(2);
});

test("an event without an answer is sent once more with a mark, and either answer counts", async () => {
  const { engine, opened } = await offer({}, 20);
  const consumer = await join(engine.url);
  consumer.send(got);
  const fire = await opened();
  for (const answered of [0, 1]) {
    const fired = fire({ seq: 7 });
    const calls = [await nextCall(consumer), await nextCall(consumer)];
    expect(calls).toMatchObject([{ data: { seq: 7 } }, { data: { seq: 7, redelivered: true } }]);
    expect(calls[0]!["data"]).not.toHaveProperty("redelivered");
    const { outcome } = (await fired) as Redelivery;
    answer(consumer, calls[answered]!);
    expect(await outcome).toBe("delivered");
  }
});
