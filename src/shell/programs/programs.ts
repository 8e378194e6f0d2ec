/** Tracks all programs that the worker runs, so that none outlives it and a bounded number runs at once. */
import { createSemaphore } from "../../base/scheduling/semaphore.ts";
import { awaitResult, type RunLimits, type RunResult } from "./foreground.ts";
import type { Program } from "./program.ts";
import type { RunningProgram } from "./running.ts";
import { type SpawnOptions, startProgram } from "./start.ts";
import { StartFailure } from "./start-failure.ts";
import { createSubreaper, type Escaped } from "./subreaper.ts";

export interface Programs {
  /**
   * Runs a program to its end. Waits first while too many run: the timeout does not include that time, but
   * the signal ends it. Throws a `StartFailure`; rejects with the signal's reason when the signal aborts.
   */
  run(program: Program, options: SpawnOptions, limits: RunLimits): Promise<RunResult>;
  /**
   * Starts a program in the background; the caller bounds their number, and calls `end()`. Throws a
   * `StartFailure`.
   */
  start(program: Program, options: SpawnOptions): Promise<RunningProgram>;
  /**
   * Ends every program with its session, and refuses to start others. Resolves when they are gone; never
   * rejects.
   */
  stopAll(): Promise<void>;
  /** Kills every session at once, for a worker that is exiting and cannot wait. */
  killAll(): void;
}

/**
 * `maxRuns` bounds the concurrent programs of `run`. `report` is called for processes that have left the
 * session of their program and outlive it, which are only visible on Linux with Bun.
 */
export function createPrograms(maxRuns: number, report: (escaped: Escaped) => void = () => {}): Programs {
  const all = new Set<RunningProgram>();
  const subreaper = createSubreaper(report);
  const runs = createSemaphore({ permits: maxRuns });
  let stopping = false;

  async function start(program: Program, options: SpawnOptions): Promise<RunningProgram> {
    if (stopping) throw new StartFailure("stopping");
    const running = await startProgram(program, options, (process) => {
      all.add(process);
      subreaper.add(process);
      void process.ended.then(() => all.delete(process));
    });
    // `stopAll` may have run while the program started.
    if (stopping) {
      await running.end();
      throw new StartFailure("stopping");
    }
    return running;
  }

  return {
    start,
    async run(program, options, limits) {
      using _permit = await runs.acquire({ signal: limits.signal });
      const running = await start(program, options);
      limits.onStarted?.(running);
      return await awaitResult(running, limits);
    },
    async stopAll() {
      stopping = true;
      await Promise.all([...all].map((running) => running.end("the worker is stopping")));
    },
    killAll() {
      for (const running of all) running.kill();
    },
  };
}
