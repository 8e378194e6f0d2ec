/** How long lines of a burst may wait for each other. */
const burstMilliseconds = 10;

/** Takes lines and passes them on, in their order. */
export interface LineBuffer {
  /** Takes one line, newline included. */
  write(line: string): void;
  /** Passes on at once what waits. */
  flush(): void;
}

/**
 * Passes lines on to `write`: a line after a pause at once, those that follow it within 10 ms together, because each
 * write wakes the program that reads the log. Code that ends the process calls `flush`.
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
