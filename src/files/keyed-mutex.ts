import type { Deadline } from "../scheduling/deadline.ts";
import { createSemaphore } from "../scheduling/semaphore.ts";

/** Runs the calls on one path one after another, and bounds how many run at all. */
export interface KeyedMutex {
  /**
   * Runs `work` when all earlier calls under any of these keys are done and a slot is free. Throws the
   * timeout refusal if the deadline comes first; then `work` never runs. `work` must not wait for another
   * key: a call joins all its queues at once, so each waits for earlier ones only, and no two for each other.
   */
  run<T>(keys: readonly string[], deadline: Deadline, work: () => Promise<T>): Promise<T>;
  /** Returns whether `run` would start work under these keys before it returns. */
  isFree(keys: readonly string[]): boolean;
  /**
   * A counter that grows when work begins and ends. While it is unchanged, no call has changed anything under
   * a key.
   */
  readonly turns: number;
}

/**
 * Maximum calls that run at once. Each holds a few descriptors, and a process may be limited to 256 of them.
 */
const mostAtOnce = 32;

export function createKeyedMutex(): KeyedMutex {
  const lastInLine = new Map<string, Promise<unknown>>();
  const slots = createSemaphore({ permits: mostAtOnce });
  let turns = 0;

  async function takeTurn<T>(
    earlier: readonly Promise<unknown>[],
    deadline: Deadline,
    work: () => Promise<T>,
  ) {
    for (const turn of earlier) await turn;
    deadline.check();
    using _slot = slots.tryAcquire() ?? (await slots.acquire({ signal: deadline.signal }));
    deadline.check();
    turns++;
    try {
      return await work();
    } finally {
      turns++;
    }
  }

  return {
    run(keys, deadline, work) {
      const earlier = keys.flatMap((key) => lastInLine.get(key) ?? []);
      const turn = takeTurn(earlier, deadline, work);
      const done = turn.then(ignore, ignore).then(() => {
        for (const key of keys) if (lastInLine.get(key) === done) lastInLine.delete(key);
      });
      for (const key of keys) lastInLine.set(key, done);
      return turn;
    },
    get turns() {
      return turns;
    },
    isFree: (keys) => slots.isFree && !keys.some((key) => lastInLine.has(key)),
  };
}

const ignore = () => {};
