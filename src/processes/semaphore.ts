/** Lets a number of calls go on at once; the others wait in line. */
export interface FifoSemaphore {
  /** Waits for a permit. Rejects with the signal's reason when it aborts first; then there is nothing to release. */
  acquire(signal?: AbortSignal | undefined): Promise<void>;
  /** Passes a permit to the one who has waited longest. */
  release(): void;
}

export function createFifoSemaphore(count: number): FifoSemaphore {
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
    async acquire(signal) {
      signal?.throwIfAborted();
      if (free > 0) free--;
      else await wait(signal);
    },
    release() {
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
