/** The process as a server: where it logs, what ends it. */
import { type Log, type LogLevel, openLog } from "./worker/log.ts";

/** How long the process may take to end by itself after everything was stopped; a leftover handle must not keep it. */
const lastResortMilliseconds = 2000;

/** The log of this process: readable on a terminal, JSON lines elsewhere. */
export function stderrLog(level: LogLevel): Log {
  // Nobody reads the log any more; calls are to be answered all the same.
  process.stderr.on("error", () => {});
  return openLog({
    level,
    form: process.stderr.isTTY ? "text" : "json",
    write: (line) => process.stderr.write(line),
  });
}

/** Resolves with the name of the signal that asks the process to stop. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}

/** Ends the process when nothing is left to do, or soon. An exit at once would cut an answer still on its way. */
export function endSoon(): void {
  setTimeout(() => process.exit(), lastResortMilliseconds).unref();
}
