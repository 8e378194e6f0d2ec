import createSpinner from "yocto-spinner";

/** Milliseconds before a call counts as long. */
const longMilliseconds = 500;

/** Milliseconds between two updates of the time. */
const everyMilliseconds = 100;

export interface ShownProgress extends Disposable {
  /** Counts files that were searched. */
  readonly addFiles: (files: number) => void;
}

/**
 * Shows on stderr for how long `name` has been running, and how many files it searches per second, from half
 * a second on, until disposed of. It draws nothing if stderr is not a terminal.
 */
export function showProgress(name: string, environment: NodeJS.ProcessEnv): ShownProgress {
  // A terminal that cannot move its cursor would keep each state as a line.
  if (!process.stderr.isTTY || environment["TERM"] === "dumb" || environment["CI"])
    return { addFiles: () => {}, [Symbol.dispose]: () => {} };
  const began = performance.now();
  let files = 0;
  // Signals keep their effect, since the program has handlers of its own.
  const spinner = createSpinner({ handleSignals: false });
  const timer = setInterval(() => {
    const elapsed = performance.now() - began;
    if (elapsed < longMilliseconds) return;
    spinner.text = renderProgress(name, elapsed, files);
    if (!spinner.isSpinning) spinner.start();
  }, everyMilliseconds);
  return {
    addFiles: (more) => {
      files += more;
    },
    [Symbol.dispose]() {
      clearInterval(timer);
      if (spinner.isSpinning) spinner.stop();
    },
  };
}

/** Renders the time of a call, and the files that it has searched, if any. */
export function renderProgress(name: string, milliseconds: number, files: number): string {
  const seconds = milliseconds / 1000;
  const rate = Math.round(files / seconds);
  const searched = files === 0 ? "" : `, ${files} files, ${rate} per second`;
  return `${name} ${seconds.toFixed(1)} s${searched}`;
}
