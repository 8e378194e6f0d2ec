/** Random choices that a seed reproduces. */
export interface Random {
  /** Returns a number from 0 up to, but not including, 1. */
  next(): number;
  /** Returns a whole number from 0 up to, but not including, `count`. */
  below(count: number): number;
  pick<T>(items: readonly T[]): T;
  chance(share: number): boolean;
}

/** The generator mulberry32 (Tommy Ettinger, public domain), whose 32 bits of state are plenty for tests. */
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

/** Returns a different seed each time, for runs that search for new faults; print it. */
export const freshSeed = (): number => Math.floor(Math.random() * 2 ** 32);

/**
 * Returns the number of runs of a long property: a third of the usual one, because each run of the tests has
 * a different seed, or a multiple of it in `npm run suite -- properties`.
 */
export const propertyRuns = (usual: number): { numRuns: number } => ({
  numRuns: Math.ceil(usual * Number(process.env["CODER_RUNS"] ?? 1 / 3)),
});
