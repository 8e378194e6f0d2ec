/** The trigger type of coder, used through the official SDK (coder §25). */
import { describe, expect, test } from "bun:test";
import { appendFileSync, renameSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import type { IIIClient } from "iii-sdk";
import { subjects } from "../harness/subject.ts";
import { withWorker } from "../harness/with-worker.ts";
import { connectClient, type WorkerFixture } from "../harness/worker-fixture.ts";

interface Event {
  readonly path: string;
  readonly kind: string;
  readonly from?: string;
  readonly dir: boolean;
  readonly seq: number;
  readonly epoch: string;
  readonly overflow?: boolean;
  readonly cause: { readonly by: string; readonly function_id?: string };
}

const lineOf = ({ kind, path, from, dir, cause, overflow }: Event): string =>
  overflow
    ? "overflow"
    : `${kind} ${from === undefined ? "" : `${from} to `}${path}${dir ? "/" : ""} by ${cause.function_id ?? cause.by}`;

/** A function on the bus that receives the events of a trigger. */
class Receiver {
  readonly events: Event[] = [];
  readonly #client: IIIClient;
  readonly #id: string;
  #wake: () => void = () => {};

  constructor(client: IIIClient, id: string, handle: () => void = () => {}) {
    this.#client = client;
    this.#id = id;
    client.registerFunction(id, async (event: Event) => {
      this.events.push(event);
      setImmediate(this.#wake);
      handle();
    });
  }

  /** Registers a trigger. Its events begin some time after this call. */
  bind(config: object): { unregister(): void } {
    return this.#client.registerTrigger({ type: "coder::changed", function_id: this.#id, config });
  }

  /** Waits for an event with this path. Returns all events since the previous call. */
  async until(path: string): Promise<string[]> {
    await this.arrived(path);
    return this.events.splice(0).map(lineOf);
  }

  /** Waits for an event with this path. */
  async arrived(path: string): Promise<void> {
    while (!this.events.some((event) => event.path === path))
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
  }
}

/** A call of the function of the consumer. */
interface Delivery {
  readonly invocation_id: string;
  readonly data: Event & { readonly redelivered?: boolean };
}

/**
 * A consumer in a namespace whose answers the test controls. It speaks the protocol itself, because SDK 0.22
 * does not support namespaces and answers every call.
 */
class NamespacedConsumer {
  static readonly #id = "consumer::changed";
  readonly #socket: WebSocket;
  readonly #deliveries: Delivery[] = [];
  #wake: () => void = () => {};

  private constructor(socket: WebSocket) {
    this.#socket = socket;
    socket.addEventListener("message", ({ data }) => {
      const frame = JSON.parse(String(data));
      if (frame.type !== "invokefunction") return;
      this.#deliveries.push(frame);
      this.#wake();
    });
  }

  /** Connects to an engine. Version 0.22 of the engine ignores the namespace. */
  static async join(
    engine: WorkerFixture["engine"],
    namespace: string,
    config: object,
  ): Promise<NamespacedConsumer> {
    const socket = new WebSocket(engine.url);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const consumer = new NamespacedConsumer(socket);
    const id = NamespacedConsumer.#id;
    const data = { runtime: "test", version: "1", name: "consumer", os: "test", pid: process.pid, namespace };
    consumer.#send({
      type: "invokefunction",
      function_id: "engine::workers::register",
      data,
      action: { type: "void" },
    });
    consumer.#send({ type: "registerfunction", id, description: "" });
    consumer.#send({
      type: "registertrigger",
      id: "of-the-consumer",
      trigger_type: "coder::changed",
      function_id: id,
      config,
      namespace,
    });
    return consumer;
  }

  /** Waits for the next call of the function. */
  async next(): Promise<Delivery> {
    while (this.#deliveries.length === 0)
      await new Promise<void>((resolve) => {
        this.#wake = resolve;
      });
    return this.#deliveries.shift()!;
  }

  answer({ invocation_id }: Delivery): void {
    this.#send({ type: "invocationresult", invocation_id, function_id: NamespacedConsumer.#id, result: {} });
  }

  leave(): void {
    this.#socket.close();
  }

  #send(frame: object): void {
    this.#socket.send(JSON.stringify(frame));
  }
}

interface Changes {
  readonly next: string;
  readonly external: boolean;
}

/** Returns the current position of the feed. */
const begin = (client: IIIClient): Promise<Changes> =>
  client.trigger({ function_id: "coder::changes", payload: {} });

const create = (path: string) => ({
  function_id: "coder::create-file",
  payload: { files: [{ path, content: "text\n", parents: true }] },
});

/** Returns the lines only if the tree is watched. Otherwise, changes by other programs are not reported. */
const external = (lines: readonly string[], { external: isWatched }: Changes) => (isWatched ? lines : []);

const withReceiver = (
  subject: (typeof subjects)[number],
  use: (served: WorkerFixture, receiver: Receiver, began: Changes) => Promise<void>,
) =>
  withWorker(subject, async (served) => {
    served.build({ "f.txt": "text\n", ".env": "SECRET=1", "src/": null });
    const client = connectClient(served.engine.url);
    await use(served, new Receiver(client, "receiver::changed"), await begin(client));
    await client.shutdown();
  });

/** Returns the errors of triggers that the SDK prints during `act`. */
async function refusalsDuring(act: () => Promise<void>): Promise<string[]> {
  const refusals: string[] = [];
  const { error: print } = console;
  console.error = (line: unknown, ...more: unknown[]) => {
    if (String(line).includes("Trigger registration failed")) refusals.push(String(line));
    else print(line, ...more);
  };
  try {
    await act();
  } finally {
    console.error = print;
  }
  return refusals;
}

describe.each(subjects)("%s", (subject) => {
  test("a trigger gets each change once, in order, with who made it", async () => {
    await withReceiver(subject, async ({ base, client }, receiver, began) => {
      receiver.bind({ since: began.next, coalesce_ms: 50 });
      writeFileSync(join(base, ".env"), "SECRET=2");
      appendFileSync(join(base, "f.txt"), "more\n");
      await client.trigger(create("src/a.txt"));
      renameSync(join(base, "f.txt"), join(base, "g.txt"));
      await client.trigger(create("last.txt"));
      expect(await receiver.until("last.txt")).toEqual([
        ...external(["modified f.txt by external"], began),
        "created src/a.txt by coder::create-file",
        ...external(["moved f.txt to g.txt by external"], began),
        "created last.txt by coder::create-file",
      ]);
    });
  });

  test("a trigger gets the changes of several roots in order", async () => {
    const roots = ["one", "two"].map((name) => ({ name, path: `<base>/${name}` }));
    const use = async ({ base, client, engine }: WorkerFixture) => {
      const own = connectClient(engine.url);
      const receiver = new Receiver(own, "receiver::changed");
      const began = await begin(own);
      receiver.bind({ since: began.next, coalesce_ms: 50 });
      writeFileSync(join(base, "two/f.txt"), "");
      await client.trigger(create("one/a.txt"));
      renameSync(join(base, "two/f.txt"), join(base, "two/g.txt"));
      await client.trigger(create("two/last.txt"));
      const changes = await receiver.until("two/last.txt");
      const inOne = "created one/a.txt by coder::create-file";
      // Beside other programs, events of one root may be read after a call in another.
      expect(changes.filter((change) => change !== inOne)).toEqual([
        ...external(["created two/f.txt by external", "moved two/f.txt to two/g.txt by external"], began),
        "created two/last.txt by coder::create-file",
      ]);
      expect(changes.filter((change) => change === inOne)).toHaveLength(1);
      await own.shutdown();
    };
    await withWorker(subject, use, { config: { roots } });
  });

  test("a trigger selects by path, globs and kinds", async () => {
    await withReceiver(subject, async ({ client }, receiver, { next: since }) => {
      receiver.bind({
        since,
        path: "src",
        include_globs: ["**/*.ts", "**/*.js"],
        exclude_globs: ["**/*.js"],
        kinds: ["created", "moved"],
        coalesce_ms: 50,
      });
      for (const path of ["a.ts", "src/a.txt", "src/a.js", "src/a.ts"]) await client.trigger(create(path));
      const paths = ["src/a.ts"];
      await client.trigger({ function_id: "coder::delete-file", payload: { paths } });
      await client.trigger(create("src/last.ts"));
      expect(await receiver.until("src/last.ts")).toEqual([
        "created src/a.ts by coder::create-file",
        "created src/last.ts by coder::create-file",
      ]);
    });
  });

  test("changes of one content within the interval are one event, and another cause is another event", async () => {
    await withReceiver(subject, async ({ base, client }, receiver, began) => {
      await client.trigger(create("c.txt"));
      const ops = [{ op: "insert", at_line: 1, content: "line\n" }];
      const payload = { files: [{ path: "c.txt", ops }] };
      for (let i = 0; i < 3; i++) await client.trigger({ function_id: "coder::update-file", payload });
      appendFileSync(join(base, "c.txt"), "more\n");
      await client.trigger(create("last.txt"));
      receiver.bind({ since: began.next, coalesce_ms: 50 });
      expect(await receiver.until("last.txt")).toEqual([
        "created c.txt by coder::create-file",
        "modified c.txt by coder::update-file",
        ...external(["modified c.txt by external"], began),
        "created last.txt by coder::create-file",
      ]);
    });
  });

  test("a place of another epoch begins with an overflow, and an event is a place to go on from", async () => {
    await withReceiver(subject, async ({ client, engine }, receiver) => {
      receiver.bind({ since: "0123456789ab:7", coalesce_ms: 50 });
      expect(await receiver.until(".")).toEqual(["overflow"]);
      await client.trigger(create("a.txt"));
      await client.trigger(create("b.txt"));
      await receiver.arrived("b.txt");
      const { seq, epoch } = receiver.events.find(({ path }) => path === "a.txt")!;
      const another = connectClient(engine.url);
      const later = new Receiver(another, "receiver::later");
      later.bind({ since: `${epoch}:${seq}`, coalesce_ms: 50 });
      expect(await later.until("b.txt")).toEqual(["created b.txt by coder::create-file"]);
      await another.shutdown();
    });
  });

  test("a configuration that does not fit is refused, and others go on", async () => {
    await withReceiver(subject, async ({ client }, receiver, { next: since }) => {
      const configs = [
        { coalesce_ms: "soon" },
        { include_globs: ["{"] },
        { since: "yesterday" },
        { kinds: ["renamed"] },
        { path: "../out" },
        { path: "" },
        { exclude_glob: ["a.txt"] },
      ];
      const refusals = await refusalsDuring(async () => {
        for (const config of configs) receiver.bind(config);
        receiver.bind({ since, coalesce_ms: 50 });
        await client.trigger(create("a.txt"));
        expect(await receiver.until("a.txt")).toEqual(["created a.txt by coder::create-file"]);
      });
      expect(refusals).toHaveLength(configs.length);
      const words = ["coalesce_ms", "include_globs", "since", "kinds[0]", "../out", "path", "exclude_glob"];
      expect(words.filter((word) => !refusals.some((refusal) => refusal.includes(word)))).toEqual([]);
    });
  });

  test("ignored paths are left out with the profile agent, unless the trigger wants them", async () => {
    const use = async ({ client, engine }: WorkerFixture) => {
      const own = connectClient(engine.url);
      const [plain, all] = ["plain", "all"].map((name) => new Receiver(own, `receiver::${name}`));
      const { next: since } = await begin(own);
      plain!.bind({ since, coalesce_ms: 50 });
      all!.bind({ since, coalesce_ms: 50, include_ignored: true });
      for (const path of [".gitignore", "a.log", "b.txt"]) {
        const content = "*.log\n";
        const payload = { files: [{ path, content }] };
        await client.trigger({ function_id: "coder::create-file", payload });
      }
      expect(await plain!.until("b.txt")).toEqual(
        [".gitignore", "b.txt"].map((path) => `created ${path} by coder::create-file`),
      );
      expect(await all!.until("b.txt")).toContain("created a.log by coder::create-file");
      await own.shutdown();
    };
    await withWorker(subject, use, { config: { profile: "agent" } });
  });

  test("an event that a function fails for is not sent again", async () => {
    await withReceiver(subject, async ({ client, engine }, _, { next: since }) => {
      const another = connectClient(engine.url);
      const failing = new Receiver(another, "receiver::failing", () => {
        throw new Error("no");
      });
      failing.bind({ since, coalesce_ms: 50 });
      await client.trigger(create("a.txt"));
      await failing.arrived("a.txt");
      await client.trigger(create("b.txt"));
      expect(await failing.until("b.txt")).toEqual([
        "created a.txt by coder::create-file",
        "created b.txt by coder::create-file",
      ]);
      await another.shutdown();
    });
  });

  test("a consumer in a namespace gets an event that it does not answer once more, with a mark, and then the next", async () => {
    await withWorker(subject, async ({ engine, client }) => {
      const { next: since } = await begin(client);
      const consumer = await NamespacedConsumer.join(engine, "proj1", { since, coalesce_ms: 50 });
      await client.trigger(create("a.txt"));
      await client.trigger(create("b.txt"));
      const first = await consumer.next();
      expect(first.data).toMatchObject({ path: "a.txt" });
      // The feed continues after it has repeated the event, and the engine does not keep the order.
      const later = [await consumer.next(), await consumer.next()];
      for (const delivery of later) consumer.answer(delivery);
      const [repeated, next] = later[0]!.data.path === "a.txt" ? later : later.toReversed();
      expect(repeated!.data).toEqual({ ...first.data, redelivered: true });
      expect(next!.data).toMatchObject({ path: "b.txt" });
      expect(next!.data.redelivered).toBeUndefined();
      consumer.leave();
    });
  });

  test("a trigger goes on after a reload, which it reports as an overflow", async () => {
    await withReceiver(subject, async ({ client, worker }, receiver, { next: since }) => {
      receiver.bind({ since, coalesce_ms: 50 });
      await client.trigger(create("a.txt"));
      await receiver.until("a.txt");
      worker.child.kill("SIGHUP");
      expect(await receiver.until(".")).toEqual(["overflow"]);
      await client.trigger(create("b.txt"));
      expect(await receiver.until("b.txt")).toEqual(["created b.txt by coder::create-file"]);
    });
  });
});
