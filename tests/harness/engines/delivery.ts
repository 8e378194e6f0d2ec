/** Delivers a call, now or somewhat later. */
export type Deliver = (call: () => void) => void;

/**
 * The order in which the engine delivers calls: that of their arrival, or one in which they overtake each
 * other.
 */
export type DeliveryOrder = "in-order" | "out-of-order";

/** Milliseconds within which calls may overtake each other. */
const windowMilliseconds = 1;

/**
 * Returns the delivery of this order. The production engine runs every call in a task of its own, so calls
 * that their client does not await arrive in any order. "out-of-order" collects calls for a millisecond and
 * delivers them shuffled; equal seeds shuffle equal batches alike.
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

/** Shuffles in place, after Fisher and Yates. */
function shuffle<Item>(items: Item[], random: (below: number) => number): Item[] {
  for (let last = items.length - 1; last > 0; last -= 1) {
    const other = random(last + 1);
    [items[last], items[other]] = [items[other]!, items[last]!];
  }
  return items;
}

/**
 * Returns a linear congruential generator (Numerical Recipes) of whole numbers from 0 up to, but not
 * including, the bound.
 */
function randomOf(seed: number): (below: number) => number {
  let state = seed >>> 0;
  return (below) => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0;
    return Math.floor((state / 2 ** 32) * below);
  };
}
