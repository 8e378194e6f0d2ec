/** A program that was started, with everything it started itself. */
import type { ChildProcess } from "node:child_process";
import type { Output } from "./output.ts";
import { isProcess } from "./process-table.ts";
import { endSession, killSession, signalSession } from "./session.ts";

/** The time between TERM and KILL for a session, and then until it has to be gone, in milliseconds. */
export const graceMs = 250;

/** How long the outputs are waited for once nothing of the session is left to write, in milliseconds. */
const drainMs = 250;

/** What a program wrote, as it is on the wire. */
export interface Captured {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}

/**
 * A running program: the leader of a session, and the session. Who starts one calls `end()` in the end, also when the
 * program has exited: that is when what it left behind goes.
 *
 * Not promised: that a process ends which made itself a session of its own (setsid(2)) or runs as another user. It is
 * out of reach, but no call waits for it.
 */
export class RunningProgram {
  /** The number of the session, and the id of its leader. */
  readonly session: number;
  /** The leader has exited: its code, or null for a signal. */
  readonly exited: Promise<number | null>;
  /** Both outputs are read to their end, which is when the last process that holds them is gone. */
  readonly drained: Promise<void>;
  /** `end()` is done. */
  readonly ended: Promise<void>;
  readonly startedAt = performance.now();
  readonly #outputs: readonly Output[];
  #exitCode: number | null = null;
  #hasExited = false;
  #isGone = false;
  #isEnding = false;
  #markEnded: () => void = () => {};

  /** `outputs` are standard output and standard error. */
  constructor(leader: ChildProcess, pid: number, outputs: readonly Output[]) {
    this.session = pid;
    this.#outputs = outputs;
    this.drained = Promise.all(this.#outputs.map((output) => output.closed)).then(() => {});
    this.exited = new Promise((resolve) => {
      leader.once("exit", (code) => {
        this.#exitCode = code;
        this.#hasExited = true;
        this.#isGone = signalSession(pid, 0) === "gone";
        resolve(code);
      });
    });
    this.ended = new Promise((resolve) => {
      this.#markEnded = resolve;
    });
  }

  /** The leader's exit code; null while it runs and when a signal ended it. */
  get exitCode(): number | null {
    return this.#exitCode;
  }

  /** Whether nothing of the session runs any more. What has left it does not count. */
  get isGone(): boolean {
    // The system does not reuse a session's number while it has processes; afterwards it must not be signalled.
    this.#isGone ||= this.#hasExited && isProcess(this.session);
    return this.#isGone;
  }

  /** Whether the operating system lets the worker end the session. */
  mayEnd(): boolean {
    return this.isGone || signalSession(this.session, 0) !== "forbidden";
  }

  /**
   * Ends what is left of the session: TERM, `graceMs`, KILL, until it is empty. Resolves when it is gone and its
   * output is read, at the latest twice `graceMs` and another 250 ms later, even if a process still holds the outputs; never
   * rejects. A `reason` is the last line of standard error if the program still runs at the TERM.
   */
  end(reason?: string): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.#end(this.#hasExited ? undefined : reason).then(this.#markEnded);
    }
    return this.ended;
  }

  /** Kills what is left of the session, and waits for nothing. */
  kill(): void {
    if (!this.isGone) killSession(this.session);
  }

  /** What has been read so far. */
  capture(): Captured {
    const [stdout, stderr] = this.#outputs.map(({ head }) => head);
    return {
      stdout: stdout?.render() ?? "",
      stderr: stderr?.render() ?? "",
      stdout_truncated: stdout?.truncated ?? false,
      stderr_truncated: stderr?.truncated ?? false,
    };
  }

  async #end(reason: string | undefined): Promise<void> {
    this.#isGone = this.isGone || (await endSession(this.session, graceMs));
    await withTimeout(drainMs, Promise.all([this.exited, this.drained]));
    for (const output of this.#outputs) output.destroy();
    if (reason !== undefined) this.#outputs[1]?.head.endWith(`ended: ${reason}`);
  }
}

/** Waits for a promise, but not longer than `milliseconds`. What the process has to read by then is read first. */
export async function withTimeout(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    // Timers come before input in a turn of the event loop: without the detour, a busy worker would lose output.
    timer = setTimeout(() => setImmediate(resolve), milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
