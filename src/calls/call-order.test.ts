import { expect, test } from "bun:test";
import fc from "fast-check";
import { CallOrder } from "./call-order.ts";
import type { Touch } from "./contract/origin.ts";

const reads = (path: string): Touch => ({ path, writes: false });
const writes = (path: string): Touch => ({ path, writes: true });

/** Returns an order that calls can enter, and the names of those that have begun. */
function openOrder() {
  const order = new CallOrder();
  const begun: string[] = [];
  const enter = (
    name: string,
    touches: readonly Touch[],
    { arrival = order.arrive(), bringsLinks = false, cancelled = undefined as AbortSignal | undefined } = {},
  ) => {
    const call = arrival.call();
    const note = () => void begun.push(name);
    const waiting = call.enter(
      { writes: touches.some((one) => one.writes), bringsLinks, touches: () => touches },
      cancelled,
    );
    if (waiting === undefined) note();
    else waiting.then(note, () => begun.push(`${name} cancelled`));
    return call;
  };
  return { order, begun, enter, settled: () => new Promise((resolve) => setImmediate(resolve)) };
}

const waits: [later: Touch, earlier: Touch, isWaiting: boolean][] = [
  [reads("a"), reads("a"), false],
  [reads("a"), writes("a"), true],
  [writes("a"), reads("a"), true],
  [writes("a"), writes("a"), true],
  [writes("a"), writes("b"), false],
  [writes("a"), writes("ab"), false],
  [reads("a/b"), writes("a"), true],
  [reads("a"), writes("a/b"), true],
  [writes("a/b/c"), reads("a"), true],
  [writes("a"), reads("a/b/c"), true],
  [writes("a/b"), writes("a/c"), false],
  [reads(""), writes("a/b"), true],
  [reads("a/b"), writes(""), true],
  [reads(""), reads("a"), false],
];

test.each(waits)("%j after %j waits: %p", async (later, earlier, isWaiting) => {
  const { begun, enter, settled } = openOrder();
  const first = enter("first", [earlier]);
  enter("second", [later]);
  expect(begun).toEqual(isWaiting ? ["first"] : ["first", "second"]);
  first.leave();
  await settled();
  expect(begun).toEqual(["first", "second"]);
});

test("a call waits for all earlier calls that concern it", async () => {
  const { begun, enter, settled } = openOrder();
  const calls = [enter("a", [writes("a")]), enter("b", [writes("b")])];
  enter("both", [reads("a"), reads("b")]);
  calls[0]!.leave();
  await settled();
  expect(begun).toEqual(["a", "b"]);
  calls[1]!.leave();
  await settled();
  expect(begun).toEqual(["a", "b", "both"]);
});

test("a call that touches nothing never waits, and none waits for it", () => {
  const { begun, enter } = openOrder();
  enter("everything", [writes("")]);
  enter("nothing", []);
  expect(begun).toEqual(["everything", "nothing"]);
});

test("a call after one that may bring links to its path may lead anywhere", async () => {
  const { begun, enter, settled } = openOrder();
  const move = enter("move", [writes("a"), writes("b")], { bringsLinks: true });
  const through = enter("through", [writes("b/x")]);
  enter("elsewhere", [writes("c")]);
  expect(begun).toEqual(["move"]);
  move.leave();
  await settled();
  expect(begun).toEqual(["move", "through"]);
  through.leave();
  await settled();
  expect(begun).toEqual(["move", "through", "elsewhere"]);
});

test("a cancelled call is not waited for, and its followers still wait for those before it", async () => {
  const { begun, enter, settled } = openOrder();
  const first = enter("first", [writes("a")]);
  const cancelled = new AbortController();
  enter("second", [writes("a")], { cancelled: cancelled.signal });
  enter("third", [reads("a")]);
  cancelled.abort();
  await settled();
  expect(begun).toEqual(["first", "second cancelled"]);
  first.leave();
  await settled();
  expect(begun).toEqual(["first", "second cancelled", "third"]);
});

test("a call waits for a message that arrived earlier and is not known yet", async () => {
  const { order, begun, enter, settled } = openOrder();
  const early = order.arrive();
  enter("late", [reads("a")]);
  expect(begun).toEqual([]);
  const call = enter("early", [writes("a")], { arrival: early });
  await settled();
  expect(begun).toEqual(["early"]);
  call.leave();
  await settled();
  expect(begun).toEqual(["early", "late"]);
});

test("a message without calls lets later ones begin, and so does one whose call never enters", async () => {
  const { order, begun, enter, settled } = openOrder();
  const [none, refused] = [order.arrive(), order.arrive()];
  const cancelled = new AbortController();
  enter("cancelled", [reads("a")], { cancelled: cancelled.signal });
  enter("late", [reads("a")]);
  cancelled.abort();
  none.expect(0);
  refused.call().leave();
  refused.end();
  await settled();
  expect(begun).toEqual(["cancelled cancelled", "late"]);
});

test("the calls of one message are in order, and the next message waits until all are known", async () => {
  const { order, begun, enter, settled } = openOrder();
  const batch = order.arrive();
  enter("next", [reads("b")]);
  batch.expect(2);
  const create = enter("create", [writes("a")], { arrival: batch });
  enter("read", [reads("a")], { arrival: batch });
  await settled();
  expect(begun).toEqual(["create", "next"]);
  create.leave();
  await settled();
  expect(begun).toEqual(["create", "next", "read"]);
});

test("a call that enters after its message has ended is the last one, and not lost", () => {
  const { order, begun, enter } = openOrder();
  const over = order.arrive();
  over.end();
  enter("late", [writes("a")], { arrival: over });
  expect(begun).toEqual(["late"]);
});

test("the paths of some calls are resolved in one step, and the others count as the whole tree", async () => {
  const order = new CallOrder();
  const begun: string[] = [];
  let resolved = 0;
  /** Whether the paths of a call were resolved, by its name. */
  const isResolved = new Map<string, boolean>();
  const enter = (name: string, { paths = 0, isWriting = false, arrival = order.arrive() } = {}) => {
    const call = arrival.call();
    const touches = ({ resolves }: { resolves: boolean }): Touch[] => {
      if (paths === 0) return [];
      isResolved.set(name, resolves);
      if (!resolves) return [{ path: "", writes: isWriting }];
      resolved += paths;
      return Array.from({ length: paths }, (_, index) => ({ path: `${name}/${index}`, writes: isWriting }));
    };
    const note = () => void begun.push(name);
    const waiting = call.enter({ writes: isWriting, bringsLinks: false, touches });
    if (waiting === undefined) note();
    else waiting.then(note);
    return call;
  };
  const settled = () => new Promise((resolve) => setImmediate(resolve));
  const readers = Array.from({ length: 100 }, (_, index) => enter(`read${index}`, { paths: 100 }));
  const writer = enter("write", { paths: 1, isWriting: true });
  expect(resolved).toBeLessThan(500);
  expect(isResolved.get("write")).toBe(true);
  enter("nothing");
  expect([begun.includes("write"), begun.includes("nothing")]).toEqual([false, true]);
  for (const reader of readers) reader.leave();
  await settled();
  expect(begun.at(-1)).toBe("write");
  resolved = 0;
  const early = order.arrive();
  const late = Array.from({ length: 100 }, (_, index) => enter(`late${index}`, { paths: 100 }));
  early.end();
  expect(resolved).toBeLessThan(500);
  await settled();
  expect(begun).not.toContain("late99");
  writer.leave();
  await settled();
  expect(begun.at(-1)).toBe("late99");
  for (const call of late) call.leave();
});

test("few deep paths are resolved in one step, and calls with others count as the whole tree", async () => {
  const { begun, enter, settled, order } = openOrder();
  let resolved = 0;
  const readers = Array.from({ length: 100 }, (_, index) => {
    const call = order.arrive().call();
    const touches = ({ resolves }: { resolves: boolean }): Touch[] => {
      if (resolves) resolved++;
      return [reads(resolves ? `${index}/${"a/".repeat(1999)}` : "")];
    };
    call.enter({ writes: false, bringsLinks: false, touches });
    return call;
  });
  enter("write", [writes("b")]);
  expect(resolved).toBeLessThan(10);
  for (const reader of readers) reader.leave();
  await settled();
  expect(begun).toEqual(["write"]);
});

const touch = fc.record({
  path: fc.array(fc.constantFrom("a", "b"), { maxLength: 3 }).map((names) => names.join("/")),
  writes: fc.boolean(),
});

const concern = (one: Touch, other: Touch) =>
  (one.writes || other.writes) &&
  (one.path === "" ||
    other.path === "" ||
    `${one.path}/`.startsWith(`${other.path}/`) ||
    `${other.path}/`.startsWith(`${one.path}/`));

test("in any order of ends, a call begins exactly when no earlier call that concerns it is left", async () => {
  const calls = fc.array(fc.array(touch, { minLength: 1, maxLength: 3 }), { minLength: 2, maxLength: 12 });
  await fc.assert(
    fc.asyncProperty(calls, fc.infiniteStream(fc.nat()), async (touched, choices) => {
      const { begun, enter, settled } = openOrder();
      const open = touched.map((touches, index) => ({
        name: String(index),
        touches,
        call: enter(String(index), touches),
      }));
      while (open.length > 0) {
        await settled();
        const free = open.filter(
          ({ touches }, index) =>
            !open
              .slice(0, index)
              .some((earlier) => earlier.touches.some((one) => touches.some((two) => concern(one, two)))),
        );
        for (const one of open) expect(begun.includes(one.name)).toBe(free.includes(one));
        const ended = free[choices.next().value! % free.length]!;
        ended.call.leave();
        open.splice(open.indexOf(ended), 1);
      }
      expect(begun).toHaveLength(touched.length);
    }),
    { numRuns: 300 },
  );
});
