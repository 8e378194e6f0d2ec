/** A program that was started, with everything it started itself. */
import type { ChildProcess } from "node:child_process";
import { endGroup, signalGroup } from "./group.ts";
import type { Output } from "./output.ts";

/** How long a group that was asked to end has before it is killed, in milliseconds. */
export const graceMs = 250;

/** How long the outputs are waited for once nothing of the group is left to write, in milliseconds. */
const drainMs = 250;

/** What a program wrote, as it is on the wire. */
export interface Captured {
  readonly stdout: string;
  readonly stderr: string;
  readonly stdout_truncated: boolean;
  readonly stderr_truncated: boolean;
}

/**
 * A running program: the leader of a process group, and the group. Who starts one calls `end()` in the end, also when
 * the program has exited: that is when what it left behind goes.
 *
 * Not promised: that a process ends which made itself a session of its own (setsid(2)) or runs as another user. It is
 * out of reach, but nobody waits for it.
 */
export class Running {
  /** The leader has exited: its code, or null for a signal. */
  readonly exited: Promise<number | null>;
  /** Both outputs are read to their end, which is when the last process that holds them is gone. */
  readonly drained: Promise<void>;
  /** `end()` is done. */
  readonly ended: Promise<void>;
  readonly startedAt = performance.now();
  readonly #group: number;
  readonly #outputs: readonly Output[];
  #exitCode: number | null = null;
  #groupIsGone = false;
  #isEnding = false;
  #markEnded: () => void = () => {};

  /** `outputs` are standard output and standard error. */
  constructor(leader: ChildProcess, pid: number, outputs: readonly Output[]) {
    this.#group = pid;
    this.#outputs = outputs;
    this.drained = Promise.all(this.#outputs.map((output) => output.closed)).then(() => {});
    this.exited = new Promise((resolve) => {
      leader.once("exit", (code) => {
        this.#exitCode = code;
        // As long as a group has processes, its number is not given away; afterwards it must not be signalled.
        this.#groupIsGone = signalGroup(pid, 0) === "gone";
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

  /** Whether the operating system lets the worker end the group. */
  mayEnd(): boolean {
    return this.#groupIsGone || signalGroup(this.#group, 0) !== "forbidden";
  }

  /**
   * Ends what is left of the group: TERM, `graceMs`, KILL. Resolves when it is gone and its output is read, at the
   * latest `graceMs` and another 250 ms later, whoever still holds the outputs; never rejects.
   */
  end(): Promise<void> {
    if (!this.#isEnding) {
      this.#isEnding = true;
      void this.#end().then(this.#markEnded);
    }
    return this.ended;
  }

  /** Kills what is left of the group, and waits for nothing. */
  kill(): void {
    if (!this.#groupIsGone) signalGroup(this.#group, "SIGKILL");
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

  async #end(): Promise<void> {
    if (!this.#groupIsGone) await endGroup(this.#group, graceMs);
    await within(drainMs, Promise.all([this.exited, this.drained]));
    for (const output of this.#outputs) output.destroy();
  }
}

/** Waits for a promise, but not longer than `milliseconds`. What the process has to read by then is read first. */
export async function within(milliseconds: number, promise: Promise<unknown>): Promise<void> {
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<void>((resolve) => {
    // Timers come before input in a turn of the event loop: without the detour, a busy worker would lose output.
    timer = setTimeout(() => setImmediate(resolve), milliseconds);
  });
  await Promise.race([promise, late]);
  clearTimeout(timer);
}
