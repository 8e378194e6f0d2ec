/**
 * A child subreaper (prctl(2), PR_SET_CHILD_SUBREAPER): what the programs leave behind becomes a child of this process
 * instead of init's. This process reaps it, and reports what has left its session and goes on.
 */
import { loadLibc } from "./libc.ts";
import { processIds, programNameOf } from "./process-table.ts";

/** A process that made itself a session of its own (setsid(2)), and outlived the one that started it. */
export interface Escaped {
  readonly process: number;
  /** The name of its program, as the process says. */
  readonly program: string;
}

/** A program that this process started, and that leads a session. */
export interface Led {
  readonly session: number;
  /** The runtime has reaped the leader. */
  readonly exited: Promise<unknown>;
  /** Nothing of the session is waited for any more. */
  readonly ended: Promise<unknown>;
}

export interface Subreaper {
  /** Takes note of a program. Call it as soon as the program runs: the runtime reaps its leader. */
  add(led: Led): void;
  /** Reaps, and reports. Also happens by itself, when a program has ended and while there is something to reap. */
  reap(): void;
}

/** The interval of reaping while programs run, in milliseconds: an orphan that has ended keeps its number till then. */
const reapEvery = 1000;

const setChildSubreaper = 36;
const noHang = 1;

/**
 * Makes this process a subreaper; `report` is called once for each session that has escaped. Does nothing where the C
 * library is out of reach: then init reaps, and nothing is reported.
 */
export function createSubreaper(report: (escaped: Escaped) => void): Subreaper {
  const libc = loadLibc();
  if (libc === undefined || libc.prctl(setChildSubreaper, 1, 0, 0, 0) < 0) return { add() {}, reap() {} };
  const leaders = new Set<number>();
  const sessions = new Set<number>();
  let escaped = new Set<number>();
  let timer: NodeJS.Timeout | undefined;

  function reap(): void {
    const seen = new Set<number>();
    for (const { id, session } of adopted()) {
      if (sessions.has(session)) continue;
      if (!escaped.has(session) && !seen.has(session)) report({ process: id, program: programNameOf(id) });
      seen.add(session);
    }
    escaped = seen;
    clearTimeout(timer);
    timer = undefined;
    if (leaders.size + escaped.size > 0) timer = setTimeout(reap, reapEvery).unref();
  }

  /** The orphans that run; those that do not are reaped. What is in the own session was not started by a program. */
  function* adopted(): Generator<{ readonly id: number; readonly session: number }> {
    const own = libc?.getsid(0);
    for (const id of processIds() ?? []) {
      const session = libc?.getsid(id) ?? -1;
      if (session < 0 || session === own || leaders.has(id)) continue;
      // 0: a child that runs. Positive: one that was a zombie. Negative: no child.
      if (libc?.waitpid(id, null, noHang) === 0) yield { id, session };
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
        reap();
      });
    },
  };
}
