import { type Deadline, unlessOver } from "../../base/scheduling/deadline.ts";
import { createSemaphore } from "../../base/scheduling/semaphore.ts";
import { beginAtOnce } from "../../base/scheduling/time-slice.ts";
import { PathLines, type PathTurn } from "./path-lines.ts";

/**
 * Lets the calls on one path, or on a path and a folder above it, work one after another, and bounds how many
 * work at all.
 */
export interface KeyedMutex {
  /**
   * Waits until all earlier calls under any of these keys, which are paths, or under a path above or below
   * one, are done and a slot is free. The turn lasts until it is disposed of. Throws the timeout refusal when
   * the deadline comes first; later calls then wait for the others only. A call that has a turn must not wait
   * for another key: a call joins all its lines at once, so each waits for earlier ones only, and no two for
   * each other.
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
  const lines = new PathLines();
  const slots = createSemaphore({ permits: maxAtOnce });
  /** Held while a call joins its lines, which takes several time slices for many thousands of paths. */
  const door = createSemaphore({ permits: 1 });
  let turns = 0;

  function join(keys: readonly string[], deadline: Deadline): PathTurn | Promise<PathTurn> {
    const passing = door.tryAcquire();
    if (passing !== undefined) return joinPassing(passing, keys);
    return door.acquire({ signal: deadline.signal }).then((later) => joinPassing(later, keys));
  }

  function joinPassing(passing: Disposable, keys: readonly string[]): PathTurn | Promise<PathTurn> {
    const joining = beginAtOnce(lines.join(keys));
    if (joining instanceof Promise) return joining.finally(() => passing[Symbol.dispose]());
    passing[Symbol.dispose]();
    return joining;
  }

  async function acquireSlot(turn: PathTurn, deadline: Deadline): Promise<Disposable> {
    if (lines.blocking(turn) !== undefined) await waitForEarlier(lines, turn, deadline);
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
      const joining = join(keys, deadline);
      // Without a wait the slot is taken at once, so that `isFree` is right for the next call of this moment.
      const turn = joining instanceof Promise ? await joining : joining;
      try {
        const slot = await acquireSlot(turn, deadline);
        turns++;
        return {
          [Symbol.dispose]() {
            turns++;
            slot[Symbol.dispose]();
            turn.leave();
          },
        };
      } catch (error) {
        turn.leave();
        throw error;
      }
    },
    get turns() {
      return turns;
    },
    isFree: (keys) => slots.isFree && door.isFree && lines.areFree(keys),
  };
}

async function waitForEarlier(lines: PathLines, turn: PathTurn, deadline: Deadline): Promise<void> {
  for (let earlier = lines.blocking(turn); earlier !== undefined; earlier = lines.blocking(turn)) {
    await unlessOver(earlier.ended, deadline);
    deadline.check();
  }
}
