import type { Deadline } from "../scheduling/deadline.ts";
import { createSemaphore } from "../scheduling/semaphore.ts";

/** Lets the calls on one path run one after another, and bounds how many run at all. */
export interface KeyedMutex {
  /**
   * Runs `work` when all earlier calls under this key are done and one of the slots is free. Throws the timeout refusal
   * when the deadline comes first; then `work` is never run. `work` must not wait for another key.
   */
  run<T>(key: string, deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Whether `run` would run its work under this key now, before it returns. */
  isFree(key: string): boolean;
}

/** Calls that run at once. Each holds a few descriptors, of which a process may have as few as 256. */
const mostAtOnce = 32;

export function createKeyedMutex(): KeyedMutex {
  const lastInLine = new Map<string, Promise<unknown>>();
  const slots = createSemaphore({ permits: mostAtOnce });

  async function takeTurn<T>(
    earlier: Promise<unknown> | undefined,
    deadline: Deadline,
    work: () => Promise<T>,
  ) {
    if (earlier !== undefined) await earlier;
    deadline.check();
    using _slot = slots.tryAcquire() ?? (await slots.acquire({ signal: deadline.signal }));
    deadline.check();
    return await work();
  }

  return {
    run(key, deadline, work) {
      const turn = takeTurn(lastInLine.get(key), deadline, work);
      const done = turn.then(ignore, ignore).then(() => {
        if (lastInLine.get(key) === done) lastInLine.delete(key);
      });
      lastInLine.set(key, done);
      return turn;
    },
    isFree: (key) => !lastInLine.has(key) && slots.isFree,
  };
}

const ignore = () => {};
