/** Milliseconds over which lines are collected. */
const burstMilliseconds = 10;

/** Collects lines and writes them in order. */
export interface LineBuffer {
  /** Takes one line, newline included. */
  write(line: string): void;
  /** Writes the collected lines at once. */
  flush(): void;
}

/**
 * Writes a line after a pause at once, and those that follow within 10 ms together, because each write wakes
 * the program that reads the log. Code that ends the process calls `flush`.
 */
export function createLineBuffer(write: (text: string) => void): LineBuffer {
  let held = "";
  let isBurst = false;
  const flush = () => {
    if (held === "") return;
    const text = held;
    held = "";
    write(text);
  };
  const pause = () => {
    isBurst = true;
    setTimeout(() => {
      isBurst = held !== "";
      if (isBurst) pause();
      flush();
    }, burstMilliseconds).unref();
  };
  return {
    write(line) {
      held += line;
      if (isBurst) return;
      flush();
      pause();
    },
    flush,
  };
}
