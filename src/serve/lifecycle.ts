/** The log, the signals and the end of the process. */

import { createLineBuffer } from "../base/log/line-buffer.ts";
import { createLog, type Log, type LogLevel } from "../base/log/log.ts";
import type { Runtime } from "../calls/contract/definition.ts";
import type { RunningCalls } from "../calls/running-calls.ts";

/** Milliseconds to end by itself after a stop, so that a leftover handle cannot keep the process alive. */
const lastResortMilliseconds = 2000;

/**
 * Returns the log of this process: readable on a terminal, JSON lines elsewhere. It writes errors and
 * warnings at once, and collects other lines for 10 ms. They survive every end of the process except a signal
 * that it does not handle.
 */
export function stderrLog(level: LogLevel): Log {
  // Calls continue without a reader of the log.
  process.stderr.on("error", () => {});
  const lines = createLineBuffer((text) => process.stderr.write(text));
  process.on("exit", lines.flush);
  return createLog({
    level,
    form: process.stderr.isTTY ? "text" : "json",
    write(line, of) {
      lines.write(line);
      if (of === "error" || of === "warn") lines.flush();
    },
  });
}

/**
 * Resolves to the name of the signal that stops the process. `more` are signals that stop it besides SIGTERM
 * and SIGINT.
 */
export function stopSignal(more: readonly NodeJS.Signals[] = []): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT", ...more] as const) process.on(signal, () => resolve(signal));
  });
}

/** The statuses of a program that a signal has ended, as shells report them: 128 and its number. */
const signalStatuses = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 } as const;

/** A signal that is to end the process, and the status that says so. */
export interface Interruption {
  readonly signal: string;
  readonly status: number;
}

/**
 * Runs `act` on the first signal that is to end the process, and ignores later ones: terminals and launchers
 * send some twice. Restores their effect when it is disposed of.
 */
export function onInterruption(act: (interruption: Interruption) => void): Disposable {
  let isInterrupted = false;
  const handlers = Object.entries(signalStatuses).map(([signal, status]) => {
    const handler = () => {
      if (isInterrupted) return;
      isInterrupted = true;
      act({ signal, status });
    };
    process.on(signal, handler);
    return { signal, handler };
  });
  return {
    [Symbol.dispose]() {
      for (const { signal, handler } of handlers) process.off(signal, handler);
    },
  };
}

/**
 * Runs `act` on each SIGHUP, which supervisors send to make daemons reread their configuration. On a
 * terminal it means that the terminal is gone, and ends the process.
 */
export function onHangup(act: () => void): void {
  if (!process.stderr.isTTY) process.on("SIGHUP", act);
}

/**
 * Removes temporary files of killed processes in the background, since a large tree takes a while. Closing
 * the runtime ends it. Never rejects.
 */
export async function sweep(runtime: Runtime, log: Log): Promise<void> {
  if (runtime.sweep === undefined) return;
  try {
    const files = await runtime.sweep();
    if (files > 0) log.info("swept", { files });
    else log.debug("swept", { files });
  } catch (error) {
    log.warn("not swept", { reason: (error as Error).message });
  }
}

/**
 * Runs the start of a server. `start` passes a function that ends each part as soon as the part is begun. If
 * a later part fails, ends those before it, the newest first, so that nothing keeps the process alive.
 */
export async function startParts<Started>(
  start: (begun: (end: () => unknown) => void) => Promise<Started>,
): Promise<Started> {
  const ends: (() => unknown)[] = [];
  try {
    return await start((end) => ends.unshift(end));
  } catch (error) {
    endSoon();
    for (const end of ends) await end();
    throw error;
  }
}

/**
 * Ends all calls, and closes what they use. If some do not end, which a rollback on a slow disk may not,
 * leaves it open: a closed folder would interrupt them in the middle. Returns the number of these calls.
 */
export async function closeAfterCalls(runtime: Runtime, running: RunningCalls): Promise<number> {
  await running.end();
  if (running.size === 0) await runtime.close();
  return running.size;
}

/** Ends the process while calls are running. The next start rolls back what they have begun. */
export function endInTheMiddle(callsLeft: number, log: Log): never {
  log.error("calls did not end in time; the next start takes back what they have begun", {
    calls: callsLeft,
  });
  process.exit(statusInTheMiddle);
}

/** EX_SOFTWARE, as from the watchdog. */
const statusInTheMiddle = 70;

/** Ends the process when its work is done, or soon after. An exit at once would lose answers not sent yet. */
export function endSoon(): void {
  setTimeout(() => process.exit(), lastResortMilliseconds).unref();
}
