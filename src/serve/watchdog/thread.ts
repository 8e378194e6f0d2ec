/**
 * The program of the watchdog's thread. It works while the event loop does not, and so logs and ends things
 * by itself.
 */
import { constants, openSync, writeSync } from "node:fs";
import { openParent } from "../../base/threads/parent.ts";
import { endProcess, resetSigterm } from "./process.ts";
import { Shared } from "./shared.ts";
import { type Limits, Silence } from "./silence.ts";

export interface WatchdogData {
  readonly memory: SharedArrayBuffer;
  readonly limits: Limits;
}

/** The exit code EX_SOFTWARE (sysexits.h). */
const exitCode = 70;

function watch({ memory, limits }: WatchdogData): void {
  const shared = new Shared(memory);
  const silence = new Silence(limits);
  let restoreSigterm = () => {};
  setInterval(() => {
    const verdict = silence.tick(shared.beats, shared.isStopping);
    if (verdict === "warn") {
      // The worker's own handler needs the event loop.
      restoreSigterm = resetSigterm();
      log("warn", "the event loop does not turn, and SIGTERM ends the process at once", shared);
    } else if (verdict === "back") restoreSigterm();
    else if (verdict === "end") {
      log(
        "error",
        "the event loop did not turn for longer than a call may take, and the process is ended",
        shared,
      );
      endProcess(exitCode);
    }
  }, limits.tickMilliseconds);
}

function log(level: string, message: string, { text }: Shared): void {
  const [functionId, path] = JSON.parse(text === "" ? "[]" : text);
  const line = { time: new Date().toISOString(), level, message, function: functionId, path };
  try {
    writeSync(openStderr(), `${JSON.stringify(line)}\n`);
  } catch {
    // The log has no reader, or the pipe is full.
  }
}

/**
 * Opens standard error again, as non-blocking if the system can, so that a write never waits for a reader.
 */
function openStderr(): number {
  try {
    return openSync("/proc/self/fd/2", constants.O_WRONLY | constants.O_APPEND | constants.O_NONBLOCK);
  } catch {
    return 2;
  }
}

openParent()?.onMessage((data) => watch(data as WatchdogData));
