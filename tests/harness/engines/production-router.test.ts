/** Tests behaviour that the production engine shows only sometimes, or only in one of its versions. */
import { afterEach, describe, expect, test } from "bun:test";
import { once } from "node:events";
import type { Engine } from "../../../src/embedded-engine/engine.ts";
import { type JoinedWorker, RawWorker, settled } from "../../../src/embedded-engine/raw-worker.test-kit.ts";
import { deliveryOf } from "./delivery.ts";
import { type Behaviour, startProduction } from "./production-router.ts";

let engine: Engine;
const workers: RawWorker[] = [];

async function join(): Promise<JoinedWorker> {
  const worker = await RawWorker.join(engine.url);
  workers.push(worker);
  return worker;
}

/** Starts an engine with a worker that serves `f`, and a client. */
async function start(options: Behaviour): Promise<{ server: JoinedWorker; client: JoinedWorker }> {
  engine = await startProduction(options);
  const server = await join();
  server.send({ type: "registerfunction", id: "f" });
  await settled(server);
  return { server, client: await join() };
}

/** Makes a call of the engine that no worker answers. */
function callInVain(id: string): void {
  engine.call(id, {}).catch(() => undefined);
}

const call = (data: unknown) => ({
  type: "invokefunction",
  invocation_id: crypto.randomUUID(),
  function_id: "f",
  data,
});

afterEach(async () => {
  for (const { socket } of workers.splice(0)) socket.terminate();
  await engine?.stop();
});

describe("delivery", () => {
  const numbers = Array.from({ length: 100 }, (_, number) => number);

  /** Returns the order in which calls reach the worker, made by a client in the order of their numbers. */
  async function orderOf(options: Behaviour): Promise<unknown[]> {
    const { server, client } = await start(options);
    for (const number of numbers) client.send(call(number));
    const order = [];
    for (const _ of numbers) order.push((await server.next())["data"]);
    return order;
  }

  test("in order keeps the calls of a client in theirs", async () => {
    expect(await orderOf({})).toEqual(numbers);
  });

  test("out of order lets them overtake each other, and loses none", async () => {
    const order = await orderOf({ delivery: "out-of-order" });
    expect(order).not.toEqual(numbers);
    expect(order.toSorted((one, other) => Number(one) - Number(other))).toEqual(numbers);
  });

  test("out of order is the same for the same seed", async () => {
    const shuffled = (seed: number) =>
      new Promise<number[]>((resolve) => {
        const deliver = deliveryOf("out-of-order", seed);
        const order: number[] = [];
        for (const number of numbers)
          deliver(() => {
            if (order.push(number) === numbers.length) resolve(order);
          });
      });
    const first = await shuffled(7);
    expect(await shuffled(7)).toEqual(first);
    expect(await shuffled(8)).not.toEqual(first);
  });
});

describe("an answer", () => {
  test("that comes too early is lost, and its call goes on waiting", async () => {
    const { server, client } = await start({ loseAnswersWithinMilliseconds: Number.POSITIVE_INFINITY });
    client.send(call(1));
    const { invocation_id } = await server.next();
    server.send({ type: "invocationresult", invocation_id, function_id: "f", result: "early" });
    await settled(server);
    await settled(client);
    server.socket.close();
    expect(await client.next()).toMatchObject({ error: { code: "invocation_stopped" } });
  });

  test("that comes later is passed on", async () => {
    const { server, client } = await start({ loseAnswersWithinMilliseconds: 20 });
    client.send(call(1));
    const { invocation_id } = await server.next();
    const answer = client.next();
    let isAnswered = false;
    void answer.then(() => {
      isAnswered = true;
    });
    for (let round = 0; !isAnswered; round += 1) {
      server.send({ type: "invocationresult", invocation_id, function_id: "f", result: round });
      await settled(server);
    }
    expect(await answer).toMatchObject({ result: expect.any(Number) });
  });
});

describe("a second registration, where it is refused,", () => {
  const named = (name: string) => ({
    type: "invokefunction",
    function_id: "engine::workers::register",
    data: { name, pid: 1 },
    action: { type: "void" },
  });

  test("leaves the function with its first owner, and the second worker connected", async () => {
    const { server, client } = await start({ version: "0.23" });
    client.send({ type: "registerfunction", id: "f" });
    expect(await client.next()).toEqual({
      type: "registrationrejected",
      code: "FUNCTION_NAMESPACE_CONFLICT",
      namespace: "default",
      function_id: "f",
      owner_worker_id: server.welcome["worker_id"],
    });
    await settled(client);
    callInVain("f");
    expect(await server.next()).toMatchObject({ type: "invokefunction", function_id: "f" });
  });

  test("ends the connection of a second worker of one name", async () => {
    const { server, client } = await start({ version: "0.23" });
    server.send(named("coder"));
    await settled(server);
    client.send({ type: "registerfunction", id: "g" });
    client.send(named("coder"));
    expect(await client.next()).toEqual({
      type: "registrationrejected",
      code: "WORKER_NAMESPACE_CONFLICT",
      namespace: "default",
      worker_name: "coder",
      owner_worker_id: server.welcome["worker_id"],
    });
    await once(client.socket, "close");
    expect(await engine.call("g", {}).catch(({ code }) => code)).toBe("function_not_found");
  });

  test("is taken when the first worker has gone, and from the first worker itself", async () => {
    const { server, client } = await start({ version: "0.23" });
    server.send(named("coder"));
    server.send(named("coder"));
    server.send({ type: "registerfunction", id: "f" });
    await settled(server);
    server.socket.close();
    await once(server.socket, "close");
    client.send({ type: "registerfunction", id: "f" });
    client.send(named("coder"));
    await settled(client);
    callInVain("f");
    expect(await client.next()).toMatchObject({ type: "invokefunction" });
  });
});
