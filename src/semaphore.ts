/** A counting semaphore with a fair queue. */
export interface Semaphore {
  /**
   * A permit, to be disposed of. Waits for one behind whoever has waited longer under the same key; the keys take turns.
   * Resolves without a permit when `signal` aborts.
   */
  acquire(key: string | undefined, signal: AbortSignal): Promise<Disposable | undefined>;
}

interface SemaphoreOptions {
  readonly permits: number;
  /**
   * Milliseconds after which one who waits gets a permit though none is free, one at a time: so holders that take long
   * slow others down and do not shut them out.
   */
  readonly patience: number;
}

/** Those who wait under one key. */
type Line = ((permit: Disposable) => void)[];

export function createSemaphore({ permits, patience }: SemaphoreOptions): Semaphore {
  /** In the order in which the keys have their turns. */
  const lines = new Map<string | undefined, Line>();
  let held = 0;
  let timer: ReturnType<typeof setTimeout> | undefined;

  function permit(): Disposable {
    held++;
    let isHeld = true;
    return {
      [Symbol.dispose]() {
        if (!isHeld) return;
        isHeld = false;
        held--;
        if (held < permits) next();
      },
    };
  }

  /** Gives a permit to the first in line, and sends the key to the end. */
  function next(): void {
    clearTimeout(timer);
    const [first] = lines;
    if (first === undefined) return;
    const [key, line] = first;
    const resolve = line.shift()!;
    lines.delete(key);
    if (line.length > 0) lines.set(key, line);
    resolve(permit());
    watch();
  }

  function watch(): void {
    clearTimeout(timer);
    if (lines.size === 0) return;
    timer = setTimeout(next, patience);
    timer.unref();
  }

  function wait(key: string | undefined, signal: AbortSignal): Promise<Disposable | undefined> {
    return new Promise((resolve) => {
      const line = lines.get(key) ?? [];
      const leave = () => {
        line.splice(line.indexOf(take), 1);
        if (line.length === 0) lines.delete(key);
        resolve(undefined);
      };
      const take = (taken: Disposable) => {
        signal.removeEventListener("abort", leave);
        resolve(taken);
      };
      signal.addEventListener("abort", leave, { once: true });
      line.push(take);
      lines.set(key, line);
      if (lines.size === 1 && line.length === 1) watch();
    });
  }

  return {
    acquire: async (key, signal) => {
      if (signal.aborted) return undefined;
      return held < permits ? permit() : wait(key, signal);
    },
  };
}
