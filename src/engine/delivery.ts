/** Passes a call on, now or somewhat later. */
export type Deliver = (call: () => void) => void;

/** How calls travel through the engine: as they came, or such that they may overtake each other. */
export type DeliveryOrder = "in-order" | "out-of-order";

/** Calls that come within this time may overtake each other, in milliseconds. */
const windowMilliseconds = 1;

/**
 * The production engine gives every call a task of its own, so that calls which their client does not await arrive in
 * any order. Out of order, calls are collected for a millisecond and passed on shuffled; equal seeds shuffle equal
 * batches alike.
 */
export function deliveryOf(order: DeliveryOrder, seed: number): Deliver {
  if (order === "in-order") return (call) => call();
  const random = randomOf(seed);
  const batch: (() => void)[] = [];
  const flush = (): void => {
    for (const call of shuffle(batch.splice(0), random)) call();
  };
  return (call) => {
    if (batch.push(call) === 1) setTimeout(flush, windowMilliseconds);
  };
}

/** Fisher and Yates' shuffle, in place. */
function shuffle<Item>(items: Item[], random: (below: number) => number): Item[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
  return items;
}

/** A linear congruential generator (Numerical Recipes); whole numbers from 0 on, below the bound. */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
