/**
 * A child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): orphans of programs become children of this process
 * instead of init. This process reaps them, and reports those that have left their session and still run.
 */
import { beginAtOnce, createTurnSlice, type Steps } from "../../base/scheduling/time-slice.ts";
import { loadLibc } from "./libc.ts";
import { processIds, programNameOf } from "./process-table.ts";

/** A process that made a session of its own (setsid(2)) and outlived the one that started it. */
export interface Escaped {
  readonly process: number;
  /** The name of its program, as the process has set it. */
  readonly program: string;
}

/** The slice of all runs: thousands of orphans may have ended. */
const slice = createTurnSlice();

/** A program that this process started, and that leads a session. */
export interface Led {
  readonly session: number;
  /** Resolves when the runtime has reaped the leader. */
  readonly exited: Promise<unknown>;
  /** Resolves when no call waits for the session any longer. */
  readonly ended: Promise<unknown>;
}

export interface Subreaper {
  /** Adds a program. Call it as soon as the program runs: the runtime, not this, reaps its leader. */
  add(led: Led): void;
  /**
   * Reaps and reports. It also runs by itself: after programs have ended, once for all that end in one turn
   * of the event loop, and regularly while processes wait to be reaped.
   */
  reap(): void;
}

/**
 * Milliseconds between two runs while programs run. An orphan that has ended keeps its id until the next run.
 */
const reapEvery = 1000;

const setChildSubreaper = 36;
const noHang = 1;

/**
 * The programs of all subreapers of this process. A worker has two while a changed configuration takes
 * effect, and one must not take the exit code of the other's program.
 */
const leaders = new Set<number>();
const sessions = new Set<number>();

/**
 * Makes this process a subreaper. Calls `report` once for each session that has escaped. If the C library
 * cannot be called, init reaps instead, and nothing is reported.
 */
export function createSubreaper(report: (escaped: Escaped) => void): Subreaper {
  const libc = loadLibc();
  if (libc === undefined || libc.prctl(setChildSubreaper, 1, 0, 0, 0) < 0) return { add() {}, reap() {} };
  let escaped = new Set<number>();
  let timer: NodeJS.Timeout | undefined;
  const { reap, reapSoon } = createRuns(reapAll);

  function* reapAll(): Steps<void> {
    const running = new Set<number>();
    for (const adoptee of adopted()) {
      yield;
      if (adoptee === undefined || sessions.has(adoptee.session)) continue;
      const { id, session } = adoptee;
      if (!escaped.has(session) && !running.has(session)) report({ process: id, program: programNameOf(id) });
      running.add(session);
    }
    escaped = running;
    clearTimeout(timer);
    timer = undefined;
    if (leaders.size + escaped.size > 0) timer = setTimeout(reap, reapEvery).unref();
  }

  /**
   * Reaps the orphans that have ended, and yields those that run; `undefined` for any other process.
   * Processes in this process's own session were not started by programs.
   */
  function* adopted(): Generator<{ readonly id: number; readonly session: number } | undefined> {
    const own = libc?.getsid(0);
    for (const id of processIds() ?? []) {
      const session = libc?.getsid(id) ?? -1;
      if (session < 0 || session === own || leaders.has(id)) continue;
      // 0: a child that runs. Positive: a child that was a zombie. Negative: no child.
      yield libc?.waitpid(id, null, noHang) === 0 ? { id, session } : undefined;
    }
  }

  return {
    reap,
    add({ session, exited, ended }) {
      leaders.add(session);
      sessions.add(session);
      timer ??= setTimeout(reap, reapEvery).unref();
      void exited.then(() => leaders.delete(session));
      void ended.then(() => {
        sessions.delete(session);
        reapSoon();
      });
    },
  };
}

/** Returns a function that reaps at once, in slices, and one that reaps once for all its calls in a turn. */
function createRuns(steps: () => Steps<void>) {
  let isReaping = false;
  let isDue = false;

  function reap(): void {
    if (isReaping) return;
    isReaping = true;
    isDue = false;
    void beginAtOnce(run(), slice);
  }

  function* run(): Steps<void> {
    yield* steps();
    isReaping = false;
    if (isDue) setImmediate(reap);
  }

  function reapSoon(): void {
    if (isDue) return;
    isDue = true;
    setImmediate(reap);
  }

  return { reap, reapSoon };
}
