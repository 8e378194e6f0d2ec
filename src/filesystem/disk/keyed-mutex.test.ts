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

describe("calls under a path and a folder above it", () => {
  const log: string[] = [];
  const start = (queue: ReturnType<typeof createQueue>, keys: readonly string[], opened: Promise<void>) =>
    queue.run(keys, deadline, async () => {
      log.push(keys.join(" "));
      await opened;
    });

  test("wait for each other, in order, and calls beside them do not", async () => {
    const queue = createQueue();
    const [inner, outer] = [gate(), gate()];
    log.length = 0;
    const turns = [
      start(queue, ["a/b/c"], inner.opened),
      start(queue, ["a/b/d"], inner.opened),
      start(queue, ["a"], outer.opened),
      start(queue, ["a/b/e"], inner.opened),
      start(queue, ["ab"], inner.opened),
      start(queue, ["A/B"], inner.opened),
    ];
    await nextTick();
    expect(log).toEqual(["a/b/c", "a/b/d", "ab"]);
    expect([queue.isFree(["a"]), queue.isFree(["a/x/y"]), queue.isFree([""])]).toEqual([false, false, false]);
    expect([queue.isFree(["b"]), queue.isFree(["abc"])]).toEqual([true, true]);
    inner.open();
    await nextTick();
    expect(log).toEqual(["a/b/c", "a/b/d", "ab", "a"]);
    outer.open();
    await Promise.all(turns);
    expect(log).toEqual(["a/b/c", "a/b/d", "ab", "a", "a/b/e", "A/B"]);
    expect(queue.isFree([""])).toBe(true);
  });

  test("wait for a call on the base, and it for them", async () => {
    const queue = createQueue();
    const { open, opened } = gate();
    log.length = 0;
    const turns = [
      start(queue, ["x/y"], opened),
      start(queue, [""], Promise.resolve()),
      start(queue, ["z"], opened),
    ];
    await nextTick();
    expect(log).toEqual(["x/y"]);
    open();
    await Promise.all(turns);
    expect(log).toEqual(["x/y", "", "z"]);
  });

  test("end at their deadline, and those behind them wait for the others only", async () => {
    const queue = createQueue();
    const { open, opened } = gate();
    const controller = new AbortController();
    log.length = 0;
    const first = start(queue, ["a/b"], opened);
    const second = queue.run(["a"], deadlineIn(60_000, controller.signal), async () => {});
    const turns = [start(queue, ["a/c"], opened), start(queue, ["a/b"], opened)];
    await nextTick();
    expect(log).toEqual(["a/b"]);
    controller.abort();
    const refusal = await second.catch((error: unknown) => error);
    expect(refusal).toMatchObject({ reason: "timeout" });
    await nextTick();
    expect(log).toEqual(["a/b", "a/c"]);
    open();
    await Promise.all([first, ...turns]);
    expect(log).toEqual(["a/b", "a/c", "a/b"]);
  });

  test("under many thousands of paths never overlap", async () => {
    const mutex = createKeyedMutex();
    const keys = Array.from({ length: 10_000 }, (_, index) => `a/b${index % 100}/c/${index}`);
    let running = 0;
    const works = Array.from({ length: 64 }, async () => {
      using _turn = await mutex.acquire(keys, deadline);
      expect(running++).toBe(0);
      await nextTick();
      running--;
    });
    await Promise.all(works);
    using _whole = await mutex.acquire(["a"], deadline);
    expect([running, mutex.isFree(["a/b0"])]).toEqual([0, false]);
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

test("calls of one moment take their slots at once", async () => {
  const mutex = createKeyedMutex();
  const acquired = Array.from({ length: 32 }, (_, slot) => {
    expect(mutex.isFree([`${slot}`])).toBe(true);
    return mutex.acquire([`${slot}`], deadline);
  });
  expect(mutex.isFree(["another"])).toBe(false);
  for (const turn of await Promise.all(acquired)) turn[Symbol.dispose]();
  expect(mutex.isFree(["another"])).toBe(true);
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
