/** Random choices that a seed brings back. */
export interface Random {
  /** From 0 to 1, without 1. */
  next(): number;
  /** A whole number from 0 to `count`, without `count`. */
  below(count: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
}

/** The generator mulberry32 (Tommy Ettinger, public domain): 32 bits of state are plenty for tests. */
export function randomFrom(seed: number): Random {
  let state = seed >>> 0;
  const next = () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let mixed = Math.imul(state ^ (state >>> 15), 1 | state);
    mixed = (mixed + Math.imul(mixed ^ (mixed >>> 7), 61 | mixed)) ^ mixed;
    return ((mixed ^ (mixed >>> 14)) >>> 0) / 2 ** 32;
  };
  const below = (count: number) => Math.floor(next() * count);
  return {
    next,
    below,
    pick: (items) => items[below(items.length)]!,
    chance: (share) => next() < share,
  };
}

/** Another seed each time, for runs that are to find something new; print it. */
export const freshSeed = (): number => Math.floor(Math.random() * 2 ** 32);

/** How many times a property is tried: as often as usual, or, as `npm run suite -- properties` asks, a multiple of it. */
export const propertyRuns = (usual: number): { numRuns: number } => ({
  numRuns: usual * Number(process.env["CODER_RUNS"] ?? 1),
});
