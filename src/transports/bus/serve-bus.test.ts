import { afterEach, describe, expect, test } from "bun:test";
import { type Behaviour, startProduction } from "../../../tests/harness/engines/production-router.ts";
import { refuse } from "../../base/errors.ts";
import type { FunctionDefinition } from "../../calls/contract/definition.ts";
import { RunningCalls } from "../../calls/running-calls.ts";
import { type Engine, startEngine } from "../../embedded-engine/engine.ts";
import { isRecord } from "../../embedded-engine/frames.ts";
import { Router } from "../../embedded-engine/router.ts";
import { connect } from "./bus.ts";
import { echo, Lines, serveEcho } from "./serve-bus.test-kit.ts";
import type { Serving } from "./serve-bus.ts";

let engine: Engine | undefined;
let serving: Serving | undefined;
const lines = new Lines();

async function start(options: Behaviour): Promise<string> {
  engine = await startProduction(options);
  serving = serveEcho(engine.url, lines);
  await serving.registered;
  return engine.url;
}

afterEach(async () => {
  await serving?.stop();
  await engine?.stop();
});

test("no answer is lost at an engine that loses what comes within a millisecond", async () => {
  const url = await start({ loseAnswersWithinMilliseconds: 1 });
  const client = connect(url, { name: "client", description: "" }, lines.log);
  const request = { function_id: "test::echo", payload: { value: 1 }, timeoutMs: 2000 };
  for (let call = 0; call < 50; call++) expect(await client.trigger(request)).toEqual({ value: 1 });
  expect(await Promise.all(Array.from({ length: 50 }, () => client.trigger(request)))).toHaveLength(50);
  await client.shutdown();
});

test("a large call that an engine of this process hands over is answered like any other", async () => {
  const taken: boolean[] = [];
  engine = await startEngine({
    takeLarge(workerId, text) {
      taken.push(serving!.takeLarge(workerId, text));
      return taken.at(-1)!;
    },
  });
  serving = serveEcho(engine.url, lines);
  await serving.registered;
  const client = connect(engine.url, { name: "client", description: "" }, lines.log);
  const value = "é\r\n".repeat(600_000);
  const answer = await client.trigger({ function_id: "test::echo", payload: { value }, timeoutMs: 20_000 });
  expect(answer).toEqual({ value });
  // The answer goes to the client, which is another worker.
  expect(taken).toEqual([true, false]);
  await client.shutdown();
});

test("a channel in a payload arrives as it was sent, wherever it stands", async () => {
  await start({});
  const channel = { channel_id: "c", access_key: "k", direction: "read" };
  const value = [channel, { deep: [{ ...channel, direction: "write" }] }];
  expect(await engine?.call("test::echo", { value })).toEqual({ value });
});

test("a stop under load ends no call: each has its answer, or finds no function", async () => {
  const url = await start({ delivery: "out-of-order" });
  const client = connect(url, { name: "client", description: "" }, lines.log);
  const codes = new Set<string | undefined>();
  const call = async (): Promise<boolean> => {
    try {
      await client.trigger({ function_id: "test::echo", payload: { value: 1 }, timeoutMs: 5000 });
      return true;
    } catch (error) {
      codes.add((error as { code?: string }).code);
      return false;
    }
  };
  for (let round = 0; round < 10; round++) {
    let answered = 0;
    const callers = Array.from({ length: 32 }, async () => {
      while (await call()) answered++;
    });
    while (answered < 100) await call();
    await serving?.stop();
    await Promise.all(callers);
    serving = serveEcho(url, lines);
    await serving.registered;
  }
  expect([...codes]).toEqual(["function_not_found"]);
  await client.shutdown();
});

test("a stop ends the calls that take too long, and sends their answers", async () => {
  engine = await startProduction({});
  const running = new RunningCalls();
  const begun = Promise.withResolvers<void>();
  const endless: FunctionDefinition = {
    ...echo,
    async handle(_, { deadline: { signal } }) {
      begun.resolve();
      await new Promise((resolve) => signal.addEventListener("abort", resolve));
      throw signal.reason;
    },
  };
  const stopCalls = () => running.end();
  serving = serveEcho(engine.url, lines, { functions: [endless], running, stopCalls });
  await serving.registered;
  const answer = engine.call("test::echo", { value: 1 }).catch((error: Error) => error.message);
  await begun.promise;
  await serving.stop();
  expect(await answer).toContain(refuse.stopping().message);
  expect(running.size).toBe(0);
});

describe("a large call", () => {
  const value = 'a "line"\n'.repeat(200_000);

  test("is answered, and a small one does not wait for it", async () => {
    await start({});
    const order: string[] = [];
    const large = engine!.call("test::echo", { value }).finally(() => order.push("large"));
    const small = engine!.call("test::echo", { value: 1 }).finally(() => order.push("small"));
    expect(await Promise.all([large, small])).toEqual([{ value }, { value: 1 }]);
    expect(order).toEqual(["small", "large"]);
  });

  test("of very many values is answered", async () => {
    await start({});
    const values = Array.from({ length: 300_000 }, () => 1);
    expect(await engine!.call("test::echo", { value: values })).toEqual({ value: values });
  });

  test("is answered, or finds no function, if its worker stops while it is parsed", async () => {
    await start({});
    const outcome = engine!.call("test::echo", { value }).catch(({ code }) => code);
    await serving!.stop();
    expect(await outcome).toBe("function_not_found");
  });
});

/** Finds the worker of a call with an object as its payload, and sends the call in `send`. */
class LateRouter extends Router {
  readonly found = Promise.withResolvers<void>();
  send: () => void = () => {};

  protected override forward(...[call, invocation]: Parameters<Router["forward"]>): void {
    if (!isRecord(call.data)) {
      super.forward(call, invocation);
      return;
    }
    this.send = () => super.forward(call, invocation);
    this.found.resolve();
  }
}

test("a call that found its function before a stop, and comes after it, finds no function", async () => {
  const router = new LateRouter();
  let asked = 0;
  // A stop sends this query before it waits for calls under way.
  router.builtins.set("engine::functions::info", () => {
    if (++asked === 2) router.send();
    return { functions: [] };
  });
  engine = await startEngine({ router });
  serving = serveEcho(engine.url, lines);
  await serving.registered;
  const code = engine.call("test::echo", { value: 1 }).catch((error) => error.code);
  await router.found.promise;
  await serving.stop();
  expect(await code).toBe("function_not_found");
});

test("a large request is refused by its function if it has more values than the worker reads", async () => {
  const engine = await startEngine();
  const serving = serveEcho(engine.url, lines, { maxTokens: () => 150_000 });
  await serving.registered;
  const value = (length: number) => ({ value: Array.from({ length }, () => "some text") });
  expect(await engine.call("test::echo", value(50_000))).toEqual(value(50_000));
  await expect(engine.call("test::echo", value(100_000))).rejects.toThrow("at most 150000 values");
  await serving.stop();
  await engine.stop();
});
