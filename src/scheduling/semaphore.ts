import { FairQueue } from "./fair-queue.ts";

/**
 * A counting semaphore with a fair queue. What counts bytes instead of permits, and has a share for each caller, is the
 * `AnswerBudget`: it admits by rules of its own from the same queue.
 */
export interface Semaphore {
  /** Whether a permit is free. */
  readonly isFree: boolean;
  /** A permit, to be disposed of; undefined when none is free. */
  tryAcquire(): Disposable | undefined;
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
  /**
   * Milliseconds after which the first in the queue gets a permit though none is free, so that long holders delay others
   * but do not block them. Absent: a caller waits until one is free.
   */
  readonly patience?: number;
}

export function createSemaphore({ permits, patience }: SemaphoreOptions): Semaphore {
  const queue = new FairQueue();
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  /** A permit that `held` already counts. */
  function permit(): Disposable {
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        held--;
        if (held < permits) admitNext();
      },
    };
  }

  /** Counts the next entry before it resumes, so that no caller overtakes it. */
  function admitNext(): void {
    clearTimeout(timer);
    const [next] = queue.oldest();
    if (next === undefined) return;
    held++;
    queue.admit(next);
    watch();
  }

  function watch(): void {
    clearTimeout(timer);
    if (patience === undefined || queue.size === 0) return;
    timer = setTimeout(admitNext, patience);
    timer.unref();
  }

  function tryAcquire(): Disposable | undefined {
    if (held >= permits) return undefined;
    held++;
    return permit();
  }

  return {
    get isFree() {
      return held < permits;
    },
    tryAcquire,
    async acquire({ key, signal } = {}) {
      signal?.throwIfAborted();
      const free = tryAcquire();
      if (free !== undefined) return free;
      const admitted = queue.wait(key, undefined, signal);
      if (queue.size === 1) watch();
      await admitted;
      return permit();
    },
  };
}
