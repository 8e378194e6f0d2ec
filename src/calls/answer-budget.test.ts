import { expect, test } from "bun:test";
import { setImmediate } from "node:timers/promises";
import { type Deadline, deadlineIn } from "../base/scheduling/deadline.ts";
import { AnswerBudget } from "./answer-budget.ts";
import type { AnswerLease } from "./contract/origin.ts";

const mebibyte = 1024 * 1024;
const later: Deadline = deadlineIn(Number.POSITIVE_INFINITY);

/** Reserves `bytes` for each of the callers in turn, and notes the admitted ones, in order. */
function reserveAll(budget: AnswerBudget, callers: readonly string[], bytes: number) {
  const admitted: string[] = [];
  const leases = callers.map((caller, index) => {
    const lease = budget.lease(caller);
    const turn = lease.reserve(bytes, later);
    if (turn === undefined) admitted.push(`${caller}${index}`);
    else void turn.then(() => admitted.push(`${caller}${index}`));
    return lease;
  });
  return { admitted, leases };
}

async function settle(): Promise<void> {
  for (let turns = 0; turns < 20; turns++) await setImmediate();
}

const releaseAll = (leases: readonly AnswerLease[]) => {
  for (const lease of leases) lease.release();
};

test("a caller has half of it, and what waits goes on when bytes were sent", async () => {
  const budget = new AnswerBudget({ bytes: 4 * mebibyte });
  const { admitted, leases } = reserveAll(budget, ["a", "a", "a", "a"], mebibyte);
  await settle();
  expect(admitted).toEqual(["a0", "a1"]);
  leases[1]?.release();
  await settle();
  expect(admitted).toEqual(["a0", "a1", "a2"]);
});

test("callers take turns, the one that waits longest first", async () => {
  const budget = new AnswerBudget({ bytes: 2 * mebibyte });
  const { admitted, leases } = reserveAll(budget, ["x", "x", "a", "a", "a", "b", "b"], mebibyte);
  await settle();
  expect(admitted).toEqual(["x0", "a2"]);
  for (let index = 0; index < leases.length; index++) {
    for (const name of admitted) leases[Number(name.slice(1))]?.release();
    await settle();
  }
  expect(admitted).toEqual(["x0", "a2", "x1", "b5", "a3", "b6", "a4"]);
});

test("small answers pass by those that wait, within a bound of their own", async () => {
  const budget = new AnswerBudget({ bytes: mebibyte, smallBytes: 4096 });
  const large = reserveAll(budget, ["a", "a"], mebibyte);
  const small = reserveAll(budget, ["b", "c", "d", "e", "f"], 1024);
  await settle();
  expect(large.admitted).toEqual(["a0"]);
  expect(small.admitted).toEqual(["b0", "c1", "d2", "e3"]);
  small.leases[0]?.release();
  await settle();
  expect(small.admitted).toEqual(["b0", "c1", "d2", "e3", "f4"]);
});

test("an answer larger than all of it goes alone", async () => {
  const budget = new AnswerBudget({ bytes: mebibyte });
  const { admitted, leases } = reserveAll(budget, ["a", "b"], 3 * mebibyte);
  await settle();
  expect(admitted).toEqual(["a0"]);
  leases[0]?.release();
  await settle();
  expect(admitted).toEqual(["a0", "b1"]);
});

test("what was reserved is corrected when the answer is there", async () => {
  const budget = new AnswerBudget({ bytes: 2 * mebibyte });
  const { admitted, leases } = reserveAll(budget, ["a", "b", "c"], mebibyte);
  leases[0]?.resize(100);
  await settle();
  expect(admitted).toEqual(["a0", "b1", "c2"]);
  leases[1]?.resize(3 * mebibyte);
  releaseAll([leases[0]!, leases[2]!]);
  expect(budget.lease("d").reserve(mebibyte, later)).toBeInstanceOf(Promise);
});

test("a wait ends with the deadline, and holds up nobody", async () => {
  const budget = new AnswerBudget({ bytes: 2 * mebibyte });
  const { leases } = reserveAll(budget, ["a", "b"], mebibyte);
  const cancelling = new AbortController();
  const given = budget.lease("c").reserve(2 * mebibyte, deadlineIn(60_000, cancelling.signal));
  const next = reserveAll(budget, ["d"], mebibyte);
  leases[0]?.release();
  cancelling.abort();
  await expect(given).rejects.toMatchObject({ reason: "timeout" });
  await settle();
  expect(next.admitted).toEqual(["d0"]);
});

test("many moderate answers do not overtake a large one for ever", async () => {
  const budget = new AnswerBudget({ bytes: 4 * mebibyte });
  const others = reserveAll(budget, ["a", "b", "c", "d"], mebibyte);
  const large = budget.lease("e").reserve(2 * mebibyte, later);
  const more = reserveAll(budget, ["f"], mebibyte);
  others.leases[0]?.release();
  await settle();
  expect(more.admitted).toEqual([]);
  others.leases[1]?.release();
  await large;
  expect(more.admitted).toEqual([]);
  others.leases[2]?.release();
  await settle();
  expect(more.admitted).toEqual(["f0"]);
});

test("a lease that was released while it waited holds nothing", async () => {
  const budget = new AnswerBudget({ bytes: mebibyte });
  const { leases } = reserveAll(budget, ["a", "b"], mebibyte);
  releaseAll([...leases].reverse());
  await settle();
  expect(budget.lease("c").reserve(mebibyte, later)).toBeUndefined();
});

test("so many may wait, and one more is told to come back", async () => {
  const budget = new AnswerBudget({ bytes: mebibyte, maxWaiting: 3 });
  reserveAll(budget, ["a", "b", "c", "d"], mebibyte);
  const refused = budget.lease("e").reserve(mebibyte, later);
  await expect(refused).rejects.toMatchObject({
    reason: "over-quota",
    details: { retry_after_ms: expect.any(Number) },
  });
});

test("what was charged is given back to the byte, whatever the order", async () => {
  const budget = new AnswerBudget({ bytes: 4 * mebibyte });
  for (let round = 0; round < 5; round++) {
    const { leases } = reserveAll(budget, ["a", "b", "c", "a", "b"], 1.5 * mebibyte);
    for (const lease of leases) lease.resize(1000 * round);
    await settle();
    releaseAll(leases);
    releaseAll(leases);
    await settle();
  }
  expect(budget.lease("z").reserve(4 * mebibyte, later)).toBeUndefined();
});

test("an answer of any size has room if no other is held and no call waits", async () => {
  const budget = new AnswerBudget({ bytes: mebibyte, smallBytes: 4096 });
  const [first, second] = [budget.lease("a"), budget.lease("b")];
  expect(first.reserveIfIdle(4 * mebibyte)).toBe(true);
  expect(first.bytes).toBe(4 * mebibyte);
  expect(second.reserveIfIdle(1)).toBe(false);
  first.resize(1);
  expect(second.reserveIfIdle(1)).toBe(false);
  const waiting = reserveAll(budget, ["c", "d"], mebibyte);
  first.release();
  expect(second.reserveIfIdle(1)).toBe(false);
  releaseAll(waiting.leases.slice(0, 1));
  await settle();
  expect(second.reserveIfIdle(1)).toBe(false);
  releaseAll(waiting.leases);
  expect(second.reserveIfIdle(1)).toBe(true);
  expect(second.bytes).toBe(1);
});
