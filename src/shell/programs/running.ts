/** A program that was started, with everything it started itself. */
import type { ChildProcess } from "node:child_process";
import type { ProcessGroup } from "./launch.ts";
import type { Output } from "./output.ts";
import { isProcess } from "./process-table.ts";
import { checkSession, endSession, isOutOfReach, killSession, type Reached } from "./session.ts";

/** Milliseconds between TERM and KILL for a session, and from KILL until it must be gone. */
export const graceMs = 250;

/** Milliseconds to wait for the outputs after all processes of the session have ended. */
const drainMs = 250;

/** The outputs of a program, as on the wire. */
export interface Captured {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}

/** The process that was started, and the signal that ended it, if only its number is known. */
interface Leader {
  readonly subprocess: ChildProcess;
  endSignal(): number | undefined;
}

/**
 * A running program: the leader of a session, and the session. Its starter must call `end()`, even after the
 * program has exited, to end the processes that it left running.
 *
 * A process that made its own session (setsid(2)), or runs as another user, is not guaranteed to end. No call
 * waits for such a process.
 */
export class RunningProgram {
  /** Id of the session, and of its leader. */
  readonly session: number;
  /** Resolves when the leader has exited: with its code, or null for a signal. */
  readonly exited: Promise<number | null>;
  /**
   * Resolves when both outputs are read to their end, after the last process that holds them has closed them.
   */
  readonly drained: Promise<void>;
  /** Resolves when `end()` has finished. */
  readonly ended: Promise<void>;
  readonly startedAt = performance.now();
  readonly #outputs: readonly Output[];
  readonly #group: ProcessGroup | undefined;
  #exitCode: number | null = null;
  #signal: string | null = null;
  #endReason: string | undefined;
  #hasExited = false;
  #isGone = false;
  #isEnding = false;
  #hasLeft = false;
  #exitCheck: Promise<void> | undefined;
  #markEnded: () => void = () => {};

  /**
   * `outputs` are standard output and standard error; `group` holds all its processes, and goes with them.
   */
  constructor(
    { subprocess, endSignal }: Leader,
    pid: number,
    outputs: readonly Output[],
    group?: ProcessGroup,
  ) {
    this.session = pid;
    this.#outputs = outputs;
    this.#group = group;
    this.drained = Promise.all(this.#outputs.map((output) => output.closed)).then(() => {});
    this.exited = new Promise((resolve) => {
      subprocess.once("exit", (reported, name) => {
        const number = endSignal();
        const code = number === undefined ? reported : null;
        this.#exitCode = code;
        this.#signal = number === undefined ? name : `signal ${number}`;
        this.#hasExited = true;
        for (const output of this.#outputs) output.hurry();
        const reached = checkSession(pid);
        if (reached instanceof Promise) this.#exitCheck = reached.then((later) => this.#noteReached(later));
        else this.#noteReached(reached);
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

  /** The signal that ended the leader; null while it runs and when it exited by itself. */
  get signal(): string | null {
    return this.#signal;
  }

  /** The reason why the worker ended it; `undefined` if it did not, or had no reason. */
  get endReason(): string | undefined {
    return this.#endReason;
  }

  /** Whether the leader had exited by itself when `end()` was called, and others still ran. */
  get hasLeft(): boolean {
    return this.#hasLeft;
  }

  /** Whether all processes of the session have ended, except those that have left it. */
  get isGone(): boolean {
    // The system reuses the id of a session without processes, so it must not be signalled from then on.
    this.#isGone ||= this.#hasExited && isProcess(this.session);
    return this.#isGone;
  }

  /** Returns whether the operating system permits the worker to end the session. */
  mayEnd(): boolean {
    return this.isGone || !isOutOfReach(this.session);
  }

  /**
   * Ends the remaining processes of the session: TERM, `graceMs`, KILL, until it is empty. Resolves when they
   * have ended and their output is read, at the latest after twice `graceMs` and 250 ms, even if a process
   * still holds the outputs; never rejects. If a process still runs at the TERM, `reason` becomes the last
   * line of standard error.
   */
  end(reason?: string): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.#end(reason).then(this.#markEnded);
    }
    return this.ended;
  }

  /** Kills the remaining processes of the session, without waiting. */
  kill(): void {
    this.#group?.kill();
    if (!this.isGone) killSession(this.session);
  }

  /** Returns the output so far. */
  capture(): Captured {
    const [stdout, stderr] = this.#outputs.map(({ head }) => head);
    return {
      stdout: stdout?.render() ?? "",
      stderr: stderr?.render() ?? "",
      stdout_truncated: stdout?.truncated ?? false,
      stderr_truncated: stderr?.truncated ?? false,
    };
  }

  #noteReached(reached: Reached): void {
    if (reached === "gone") this.#isGone = true;
  }

  async #end(given: string | undefined): Promise<void> {
    const hadExited = this.#hasExited;
    if (this.#exitCheck !== undefined) await this.#exitCheck;
    const reason = this.isGone ? undefined : given;
    this.#endReason = reason;
    this.#hasLeft = hadExited && this.#group?.isEmpty() === false;
    if (!this.isGone) {
      const { wasRunning, isGone } = await endSession(this.session, graceMs, this.#group);
      this.#hasLeft ||= hadExited && wasRunning;
      this.#isGone = isGone;
    }
    // The group also contains processes that have left the session, or that the process table does not show
    // in time.
    this.#group?.kill();
    await withTimeout(drainMs, Promise.all([this.exited, this.drained]));
    this.#group?.remove();
    for (const output of this.#outputs) output.destroy();
    if (reason !== undefined) this.#outputs[1]?.head.endWith(`ended: ${reason}`);
  }
}

/** Waits for a promise, at most `milliseconds`. Input that is ready when the time is up is read first. */
export async function withTimeout(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    // Timers come before input in a turn of the event loop: without the detour, a busy worker would lose
    // output.
    timer = setTimeout(() => setImmediate(resolve), milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
