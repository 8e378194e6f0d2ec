import type { Deadline } from "../../base/scheduling/deadline.ts";
import { createSemaphore } from "../../base/scheduling/semaphore.ts";

/** Lets the calls on one path work one after another, and bounds how many work at all. */
export interface KeyedMutex {
  /**
   * Waits until all earlier calls under any of these keys are done and a slot is free. The turn lasts until
   * it is disposed of. Throws the timeout refusal if the deadline comes first. A call that has a turn must
   * not wait for another key: a call joins all its queues at once, so each waits for earlier ones only, and
   * no two for each other.
   */
  acquire(keys: readonly string[], deadline: Deadline): Promise<Disposable>;
  /** Returns whether `acquire` would not have to wait for these keys. */
  isFree(keys: readonly string[]): boolean;
  /**
   * A counter that grows when a turn begins and ends. While it is unchanged, no call has changed anything
   * under a key.
   */
  readonly turns: number;
}

/**
 * Maximum calls that work at once. Each holds a few descriptors, and a process may be limited to 256 of them.
 */
const maxAtOnce = 32;

export function createKeyedMutex(): KeyedMutex {
  const lastInLine = new Map<string, Promise<void>>();
  const slots = createSemaphore({ permits: maxAtOnce });
  let turns = 0;

  async function acquireSlot(earlier: readonly Promise<void>[], deadline: Deadline): Promise<Disposable> {
    for (const turn of earlier) await turn;
    deadline.check();
    const slot = slots.tryAcquire() ?? (await slots.acquire({ signal: deadline.signal }));
    try {
      deadline.check();
      return slot;
    } catch (error) {
      slot[Symbol.dispose]();
      throw error;
    }
  }

  return {
    async acquire(keys, deadline) {
      const earlier: Promise<void>[] = [];
      for (const key of keys) {
        const last = lastInLine.get(key);
        if (last !== undefined) earlier.push(last);
      }
      let endTurn = () => {};
      const done = new Promise<void>((resolve) => {
        endTurn = resolve;
      });
      for (const key of keys) lastInLine.set(key, done);
      const leave = () => {
        for (const key of keys) if (lastInLine.get(key) === done) lastInLine.delete(key);
        endTurn();
      };
      try {
        const slot = await acquireSlot(earlier, deadline);
        turns++;
        return {
          [Symbol.dispose]() {
            turns++;
            slot[Symbol.dispose]();
            leave();
          },
        };
      } catch (error) {
        leave();
        throw error;
      }
    },
    get turns() {
      return turns;
    },
    isFree: (keys) => slots.isFree && !keys.some((key) => lastInLine.has(key)),
  };
}
