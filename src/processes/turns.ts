/** Lets a number of calls go on at once; the others wait in line. */
export interface Turns {
  /** Waits for a turn. Rejects with the signal's reason when it aborts first; then there is nothing to give back. */
  take(signal?: AbortSignal | undefined): Promise<void>;
  /** Gives a turn to the one who has waited longest. */
  give(): void;
}

export function openTurns(count: number): Turns {
  let free = count;
  const waiting = new Set<() => void>();

  const wait = (signal: AbortSignal | undefined) =>
    new Promise<void>((resolve, reject) => {
      const abort = () => {
        waiting.delete(take);
        reject(signal?.reason);
      };
      const take = () => {
        signal?.removeEventListener("abort", abort);
        resolve();
      };
      waiting.add(take);
      signal?.addEventListener("abort", abort);
    });

  return {
    async take(signal) {
      signal?.throwIfAborted();
      if (free > 0) free--;
      else await wait(signal);
    },
    give() {
      const [next] = waiting;
      if (next === undefined) {
        free++;
      } else {
        waiting.delete(next);
        next();
      }
    },
  };
}
