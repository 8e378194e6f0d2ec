import { describe, expect, test } from "bun:test";
import { type Deadline, deadlineIn } from "../../base/scheduling/deadline.ts";
import { createKeyedMutex } from "./keyed-mutex.ts";

const deadline = deadlineIn(Number.POSITIVE_INFINITY);

function createQueue() {
  const mutex = createKeyedMutex();
  const run = async <T>(keys: readonly string[], until: Deadline, work: () => Promise<T>): Promise<T> => {
    using _turn = await mutex.acquire(keys, until);
    return await work();
  };
  return { isFree: mutex.isFree, run };
}

const nextTick = () => new Promise((resolve) => setImmediate(resolve));

/** Returns a promise, and the function that resolves it. */
function gate() {
  let open = () => {};
  const opened = new Promise<void>((resolve) => {
    open = resolve;
  });
  return { open, opened };
}

describe("calls under one key", () => {
  test("run one after another, in order, also when one fails", async () => {
    const queue = createQueue();
    const log: string[] = [];
    const work = (name: string) => async () => {
      log.push(`${name} begins`);
      await Promise.resolve();
      log.push(`${name} ends`);
      if (name === "b") throw new Error("b failed");
      return name;
    };
    const answers = await Promise.allSettled(
      ["a", "b", "c"].map((name) => queue.run(["key"], deadline, work(name))),
    );
    expect(answers.map(({ status }) => status)).toEqual(["fulfilled", "rejected", "fulfilled"]);
    expect(log).toEqual(["a begins", "a ends", "b begins", "b ends", "c begins", "c ends"]);
  });

  test("wait for all earlier ones, also when they come late", async () => {
    const queue = createQueue();
    const { open, opened } = gate();
    const log: string[] = [];
    const first = queue.run(["key"], deadline, async () => {});
    const second = queue.run(["key"], deadline, async () => {
      await opened;
      log.push("second");
    });
    await first;
    await nextTick();
    const third = queue.run(["key"], deadline, async () => {
      log.push("third");
    });
    await nextTick();
    open();
    await Promise.all([second, third]);
    expect(log).toEqual(["second", "third"]);
  });

  test("whose time is up in the line are refused and never run", async () => {
    const queue = createQueue();
    const { open, opened } = gate();
    const first = queue.run(["key"], deadline, () => opened);
    let hasRun = false;
    const second = queue.run(["key"], deadlineIn(0), async () => {
      hasRun = true;
    });
    const third = queue.run(["key"], deadline, async () => "third");
    open();
    await first;
    expect(second).rejects.toThrow("within 0 ms");
    expect(await third).toBe("third");
    expect(hasRun).toBe(false);
  });
});

test("calls under other keys run meanwhile, but not more than there are slots", async () => {
  const queue = createQueue();
  const { open, opened } = gate();
  let running = 0;
  let most = 0;
  const calls = Array.from({ length: 500 }, (_, i) =>
    queue.run([`key ${i}`], deadline, async () => {
      most = Math.max(most, ++running);
      await opened;
      running--;
      return i;
    }),
  );
  await nextTick();
  open();
  expect(await Promise.all(calls)).toEqual(Array.from({ length: 500 }, (_, i) => i));
  expect(most).toBeGreaterThan(1);
  expect(most).toBeLessThanOrEqual(32);
});

test("a turn begins at once exactly when its key and a slot are free", async () => {
  const queue = createQueue();
  const { open, opened } = gate();
  let running = 0;
  const work = async () => {
    running++;
    await opened;
  };
  const turns = [];
  for (let slot = 0; slot < 32; slot++) {
    expect(queue.isFree([`${slot}`])).toBe(true);
    turns.push(queue.run([`${slot}`], deadline, work));
    await nextTick();
    expect([running, queue.isFree([`${slot}`])]).toEqual([slot + 1, false]);
  }
  expect(queue.isFree(["another"])).toBe(false);
  turns.push(queue.run(["another"], deadline, work));
  await nextTick();
  expect(running).toBe(32);
  open();
  await Promise.all(turns);
  expect([running, queue.isFree(["another"])]).toEqual([33, true]);
});

test("whose time is up while all slots are taken is refused, and takes none", async () => {
  const queue = createQueue();
  const { open, opened } = gate();
  const turns = Array.from({ length: 32 }, (_, slot) => queue.run([`${slot}`], deadline, () => opened));
  const controller = new AbortController();
  const late = queue.run(["late"], deadlineIn(60_000, controller.signal), async () => {});
  controller.abort();
  await expect(late).rejects.toMatchObject({ reason: "timeout" });
  open();
  await Promise.all(turns);
  expect(queue.isFree(["late"])).toBe(true);
});

test("a call under several keys waits for all of them, and two with the same ones never for each other", async () => {
  const queue = createQueue();
  const { open, opened } = gate();
  const log: string[] = [];
  const work = (name: string) => async () => {
    log.push(name);
    await Promise.resolve();
  };
  const turns = [
    queue.run(["a"], deadline, () => opened),
    queue.run(["a", "b"], deadline, work("a and b")),
    queue.run(["b", "a"], deadline, work("b and a")),
    queue.run(["b"], deadline, work("b")),
    queue.run(["c"], deadline, work("c")),
    queue.run(["d", "d"], deadline, work("d twice")),
  ];
  await nextTick();
  expect(log).toEqual(["c", "d twice"]);
  expect(queue.isFree(["c", "b"])).toBe(false);
  open();
  await Promise.all(turns);
  expect(log).toEqual(["c", "d twice", "a and b", "b and a", "b"]);
  expect(queue.isFree(["a", "b", "c", "d"])).toBe(true);
});
