import createSpinner from "yocto-spinner";

/** Milliseconds before a call counts as long. */
const longMilliseconds = 500;

/** Milliseconds between two updates of the time. */
const everyMilliseconds = 100;

/**
 * Shows on stderr for how long `name` has been running, from half a second on, until disposed of. It draws
 * nothing if stderr is not a terminal.
 */
export function showProgress(name: string, environment: NodeJS.ProcessEnv): Disposable {
  // A terminal that cannot move its cursor would keep each state as a line.
  if (!process.stderr.isTTY || environment["TERM"] === "dumb" || environment["CI"])
    return { [Symbol.dispose]: () => {} };
  const began = performance.now();
  // Signals keep their effect, since the program has handlers of its own.
  const spinner = createSpinner({ handleSignals: false });
  const timer = setInterval(() => {
    const elapsed = performance.now() - began;
    if (elapsed < longMilliseconds) return;
    spinner.text = `${name} ${(elapsed / 1000).toFixed(1)} s`;
    if (!spinner.isSpinning) spinner.start();
  }, everyMilliseconds);
  return {
    [Symbol.dispose]() {
      clearInterval(timer);
      if (spinner.isSpinning) spinner.stop();
    },
  };
}
