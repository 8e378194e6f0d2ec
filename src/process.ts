/** The process as a server: where it logs, what ends it. */

import type { Runtime } from "./contract/definition.ts";
import { createLineBuffer } from "./log/line-buffer.ts";
import { createLog, type Log, type LogLevel } from "./log/log.ts";

/** How long the process may take to end by itself after everything was stopped; a leftover handle must not keep it. */
const lastResortMilliseconds = 2000;

/**
 * The log of this process: readable on a terminal, JSON lines elsewhere. Errors and warnings are written at once; other
 * lines may wait 10 ms for each other. They survive every end of the process but a signal that it does not handle.
 */
export function stderrLog(level: LogLevel): Log {
  // The reader of the log has left; calls are answered all the same.
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

/** Resolves with the name of the signal that stops the process. */
export function stopSignal(): Promise<string> {
  return new Promise((resolve) => {
    for (const signal of ["SIGTERM", "SIGINT"] as const) process.on(signal, () => resolve(signal));
  });
}

/**
 * Removes what killed processes left, in the background: a large tree takes a while, and calls need not wait for it.
 * Closing the runtime ends it. Never rejects.
 */
export async function sweep(runtime: Runtime, log: Log): Promise<void> {
  if (runtime.sweep === undefined) return;
  try {
    log.info("swept", { files: await runtime.sweep() });
  } catch (error) {
    log.warn("not swept", { reason: (error as Error).message });
  }
}

/** Ends the process when nothing is left to do, or soon. An exit at once would cut an answer still on its way. */
export function endSoon(): void {
  setTimeout(() => process.exit(), lastResortMilliseconds).unref();
}
