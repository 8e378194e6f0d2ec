/** Calls that let the watchdog's thread act on its process without the event loop. */
import { openLibc } from "../../base/bun.ts";

interface Functions {
  _exit(code: number): void;
  sigaction(signal: number, action: Uint8Array | null, old: Uint8Array | null): number;
}

const signatures = {
  _exit: { args: ["i32"], returns: "void" },
  sigaction: { args: ["i32", "ptr", "ptr"], returns: "i32" },
};

const sigterm = 15;

/** A size that exceeds that of a `struct sigaction`. All zeros mean the default action (sigaction(2)). */
const actionBytes = 256;

/** Ends the process, not only this thread: with `code`, or by SIGKILL if the C library cannot be called. */
export function endProcess(code: number): void {
  openLibc<Functions>(signatures)?._exit(code);
  process.kill(process.pid, "SIGKILL");
}

/**
 * Restores the default effect of SIGTERM until the result is called, since a handler in JavaScript needs the
 * event loop.
 */
export function resetSigterm(): () => void {
  const libc = openLibc<Functions>(signatures);
  const old = new Uint8Array(actionBytes);
  if (libc?.sigaction(sigterm, new Uint8Array(actionBytes), old) !== 0) return () => {};
  return () => void libc.sigaction(sigterm, old, null);
}
