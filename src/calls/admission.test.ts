import { expect, test } from "bun:test";
import fc from "fast-check";
import { deadlineIn } from "../base/scheduling/deadline.ts";
import { measureMemory, memoryBytes } from "../text/sizes/memory-size.ts";
import { Admission } from "./admission.ts";

const later = deadlineIn(Number.POSITIVE_INFINITY);
const settle = () => new Promise((resolve) => setImmediate(resolve));

const refused = { reason: "over-quota", details: { retry_after_ms: expect.any(Number) } };

function thrownBy(act: () => unknown): unknown {
  try {
    act();
  } catch (error) {
    return error;
  }
  return undefined;
}

interface StartedCall {
  readonly caller: string;
  readonly index: number;
  end(): void;
}

/** Starts long calls, one for each caller in the list. Returns those that have begun, in that order. */
function startCalls(admission: Admission, callers: readonly string[]): StartedCall[] {
  const started: StartedCall[] = [];
  callers.forEach(async (caller, index) => {
    const turn = await admission.start(caller, later);
    started.push({ caller, index, end: () => turn[Symbol.dispose]() });
  });
  return started;
}

test("one caller leaves half of the turns to others, however many calls it has", async () => {
  const started = startCalls(new Admission({ patience: 60_000, longCalls: 4 }), [..."aaaaaaaabb"]);
  await settle();
  expect(started.map(({ caller }) => caller).join("")).toBe("aabb");
});

/** Checks that no caller whose share has room is passed twice by one other caller. */
class Turns {
  readonly #share: number;
  readonly #waiting = new Map<string, number>();
  readonly #running = new Map<string, number>();
  readonly #passed = new Map<string, Set<string>>();

  /** Starts with `begun`, the calls that found a free turn on arrival. */
  constructor(callers: readonly string[], begun: readonly StartedCall[], share: number) {
    this.#share = share;
    for (const caller of callers) change(this.#waiting, caller, 1);
    for (const { caller } of begun) {
      change(this.#waiting, caller, -1);
      change(this.#running, caller, 1);
    }
  }

  ended(caller: string): void {
    change(this.#running, caller, -1);
  }

  began(caller: string): void {
    change(this.#waiting, caller, -1);
    change(this.#running, caller, 1);
    this.#passed.delete(caller);
    for (const [other, waiting] of this.#waiting) {
      if (other === caller || waiting === 0 || (this.#running.get(other) ?? 0) >= this.#share) continue;
      const passed = this.#passed.get(other) ?? new Set();
      expect(passed).not.toContain(caller);
      this.#passed.set(other, passed.add(caller));
    }
  }
}

const change = (counts: Map<string, number>, key: string, by: number) =>
  counts.set(key, (counts.get(key) ?? 0) + by);

test("all calls begin, each after the older ones of its caller, and no caller is passed twice by another", async () => {
  const callers = fc.array(fc.constantFrom("a", "b", "c", "d"), { minLength: 1, maxLength: 40 });
  const ends = fc.infiniteStream(fc.nat(7));
  const holds = fc.asyncProperty(callers, fc.integer({ min: 1, max: 3 }), ends, async (list, share, next) => {
    const started = startCalls(new Admission({ patience: 60_000, longCalls: 2 * share }), list);
    await settle();
    const turns = new Turns(list, started, share);
    const running = [...started];
    for (let seen = running.length; seen < list.length; ) {
      const [ended] = running.splice(next.next().value! % running.length, 1);
      turns.ended(ended!.caller);
      ended!.end();
      await settle();
      for (; seen < started.length; seen++) {
        turns.began(started[seen]!.caller);
        running.push(started[seen]!);
      }
    }
    for (const caller of new Set(list)) {
      const order = started.filter((call) => call.caller === caller).map(({ index }) => index);
      expect(order).toEqual(list.flatMap((name, index) => (name === caller ? [index] : [])));
    }
  });
  await fc.assert(holds, { numRuns: 50 });
});

test("of one caller half as many wait as may, and all others together have the rest", async () => {
  const admission = new Admission({ patience: 60_000, longCalls: 2, maxWaiting: 4 });
  startCalls(admission, [..."aaa"]);
  expect(thrownBy(() => admission.start("a", later))).toMatchObject(refused);
  startCalls(admission, [..."bbb"]);
  expect(thrownBy(() => admission.start("c", later))).toMatchObject(refused);
});

test("a call whose time is up while it waits gets no turn", async () => {
  const admission = new Admission({ patience: 60_000, longCalls: 2 });
  const held = await admission.start("a", later);
  await expect(admission.start("a", deadlineIn(0))).rejects.toMatchObject({ reason: "timeout" });
  held[Symbol.dispose]();
  expect(admission.start("a", later)).not.toBeInstanceOf(Promise);
});

test("requests have room together, those of one caller in half of it, and a single one always", () => {
  const admission = new Admission({ requestBytes: 1000 });
  const payload = { text: "x".repeat(200), list: ["y".repeat(100)] };
  const first = admission.hold("a", memoryBytes({ text: "x".repeat(5000) }));
  expect(thrownBy(() => admission.hold("a", memoryBytes(payload)))).toMatchObject(refused);
  const other = admission.hold("b", memoryBytes(payload));
  expect(thrownBy(() => admission.hold("b", memoryBytes(payload)))).toMatchObject(refused);
  for (const held of [first, first, other]) held[Symbol.dispose]();
  admission.hold("b", memoryBytes(payload));
  expect(thrownBy(() => admission.hold("b", memoryBytes(payload)))).toMatchObject(refused);
});

test("a request that holds what is no data is counted without it", () => {
  const channel: { self?: unknown } = Object.create({ read: () => {} });
  channel.self = channel;
  new Admission().hold("a", memoryBytes({ content: channel }));
});

test("a request nested 100,000 deep is counted", () => {
  let payload: unknown = [];
  for (let depth = 0; depth < 100_000; depth++) payload = depth % 2 === 0 ? [payload] : { payload };
  const admission = new Admission({ requestBytes: 100_000 });
  admission.hold("a", memoryBytes(payload));
  expect(thrownBy(() => admission.hold("a", memoryBytes({})))).toMatchObject(refused);
});

test("a request of very many values is measured in steps", () => {
  const values = Array.from({ length: 100_000 }, () => "x");
  for (const payload of [values, { ...values }, { values: [values] }])
    expect([...measureMemory(payload)].length).toBeGreaterThan(10);
});

test("the names of a request's fields count as its values do", () => {
  const admission = new Admission({ requestBytes: 4000 });
  using _one = admission.hold("a", memoryBytes({ ["n".repeat(1500)]: 1 }));
  expect(thrownBy(() => admission.hold("a", memoryBytes({ ["n".repeat(1500)]: 1 })))).toMatchObject(refused);
  expect(thrownBy(() => admission.hold("a", memoryBytes(["n".repeat(100)])))).toBeUndefined();
});
