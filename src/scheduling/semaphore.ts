import { FairQueue, type Waiter } from "./fair-queue.ts";

/**
 * A counting semaphore with a fair queue. What counts bytes instead of permits, and has a share for each caller, is the
 * `AnswerBudget`: it admits by rules of its own from the same queue.
 */
export interface Semaphore {
  /** Whether a permit is free. */
  readonly isFree: boolean;
  /** A permit, to be disposed of; undefined when none is free. */
  tryAcquire(key?: string): Disposable | undefined;
  /** How many wait: all of them, and those under a key. */
  waiting(key: string | undefined): { readonly all: number; readonly underKey: number };
  /**
   * A permit, to be disposed of. Callers under one key get permits in the order of arrival; the keys take turns.
   * Rejects with the signal's reason when it aborts first; then there is nothing to dispose of.
   */
  acquire(waiting?: Waiting): Promise<Disposable>;
}

interface Waiting {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface SemaphoreOptions {
  readonly permits: number;
  /** Most permits under one key, so that there is one for another key that comes. Default: all of them. */
  readonly perKey?: number;
  /**
   * Milliseconds after which the first in the queue gets a permit though none is free, so that long holders delay others
   * but do not block them. Absent: a caller waits until one is free.
   */
  readonly patience?: number;
}

export function createSemaphore({ permits, perKey = permits, patience }: SemaphoreOptions): Semaphore {
  const queue = new FairQueue();
  const heldByKey = new Map<string | undefined, number>();
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  const heldUnder = (key: string | undefined): number => heldByKey.get(key) ?? 0;
  const hasRoom = (key: string | undefined): boolean => held < permits && heldUnder(key) < perKey;

  function count(key: string | undefined, change: 1 | -1): void {
    held += change;
    const ofKey = heldUnder(key) + change;
    if (ofKey === 0) heldByKey.delete(key);
    else heldByKey.set(key, ofKey);
  }

  /** A permit that is counted already. */
  function permit(key: string | undefined): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        count(key, -1);
        admit([...queue.oldest()].find((waiter) => hasRoom(waiter.key)));
      },
    };
  }

  /** Counts the entry before it resumes, so that no caller overtakes it. */
  function admit(next: Waiter<undefined> | undefined): void {
    if (next === undefined) return;
    count(next.key, 1);
    queue.admit(next);
    watch();
  }

  function watch(): void {
    clearTimeout(timer);
    if (patience === undefined || queue.size === 0) return;
    timer = setTimeout(() => admit(queue.oldest().next().value ?? undefined), patience);
    timer.unref();
  }

  function tryAcquire(key?: string): Disposable | undefined {
    if (!hasRoom(key)) return undefined;
    count(key, 1);
    return permit(key);
  }

  return {
    get isFree() {
      return held < permits;
    },
    tryAcquire,
    waiting: (key) => ({ all: queue.size, underKey: queue.sizeOf(key) }),
    async acquire({ key, signal } = {}) {
      signal?.throwIfAborted();
      const free = tryAcquire(key);
      if (free !== undefined) return free;
      const admitted = queue.wait(key, undefined, signal);
      if (queue.size === 1) watch();
      await admitted;
      return permit(key);
    },
  };
}
