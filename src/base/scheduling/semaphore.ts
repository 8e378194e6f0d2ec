import { FairQueue, type Waiter } from "./fair-queue.ts";
import { KeyedCount } from "./keyed-count.ts";

/**
 * A counting semaphore with a fair queue. The `AnswerBudget`, which counts bytes and has a share for each
 * caller, uses the same queue with rules of its own.
 */
export interface Semaphore {
  /** Whether a permit is free. */
  readonly isFree: boolean;
  /** Returns a permit, which the caller must dispose of, or `undefined` if none is free. */
  tryAcquire(key?: string): Disposable | undefined;
  /** Returns the number of waiting callers: in total, and under a key. */
  waiting(key: string | undefined): { readonly all: number; readonly underKey: number };
  /**
   * Resolves to a permit, which the caller must dispose of. Callers under one key get permits in the order of
   * arrival, and the keys take turns. Rejects with the signal's reason if it aborts first; then there is
   * nothing to dispose of.
   */
  acquire(waiting?: Waiting): Promise<Disposable>;
}

interface Waiting {
  readonly key?: string | undefined;
  readonly signal?: AbortSignal | undefined;
}

interface SemaphoreOptions {
  readonly permits: number;
  /** Maximum permits under one key, so that some are left for other keys. Default: all of them. */
  readonly perKey?: number;
  /**
   * Milliseconds after which the first in the queue gets a permit although none is free, so that long holders
   * delay others but do not block them. If absent, a caller waits until one is free.
   */
  readonly patience?: number;
}

export function createSemaphore({ permits, perKey = permits, patience }: SemaphoreOptions): Semaphore {
  const queue = new FairQueue();
  const held = new KeyedCount();
  let timer: ReturnType<typeof setTimeout> | undefined;

  const hasRoom = (key: string | undefined): boolean => held.total < permits && held.under(key) < perKey;

  /** Returns a permit that is counted already. */
  function permit(key: string | undefined): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        held.add(key, -1);
        if (queue.size > 0) admit([...queue.oldest()].find((waiter) => hasRoom(waiter.key)));
      },
    };
  }

  /** Counts the entry before it resumes, so that no caller overtakes it. */
  function admit(next: Waiter<undefined> | undefined): void {
    if (next === undefined) return;
    held.add(next.key, 1);
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
    held.add(key, 1);
    return permit(key);
  }

  return {
    get isFree() {
      return held.total < permits;
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
