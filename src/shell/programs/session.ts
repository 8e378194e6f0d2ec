/**
 * Signals the session that a program leads (setsid(2)), process by process: all processes that it started, in
 * any process group, except those that made their own session. On systems without a process table, signals
 * only the first process group (kill(2) with a negative id).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { beginAtOnce, createTurnSlice, runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { visitMembers } from "./process-table.ts";

/** Minimum milliseconds between two polls of a session that has been signalled to end. */
const pollMilliseconds = 5;

/** Maximum passes over processes that start while others are killed. */
const maxRounds = 100;

/**
 * The processes of a session that a signal reached. "sent": some, or some have just ended. "gone": there is
 * none. "forbidden": all belong to other users.
 */
export type Reached = "sent" | "gone" | "forbidden";

/** The slice of all sessions, since those of many commands may end in one turn. */
const slice = createTurnSlice();

/**
 * Returns which processes of a session a signal would reach; a promise of that, if the process table is long
 * or other sessions are checked in this turn of the event loop.
 */
export const checkSession = (session: number): Reached | Promise<Reached> =>
  beginAtOnce(signalSession(session, 0), slice);

/** Returns whether all processes of a session belong to other users, so that no signal reaches one. */
export const isOutOfReach = (session: number): boolean =>
  runAtOnce(signalSession(session, 0)) === "forbidden";

/** Sends a signal to every process of a session. With 0, it only checks until one would be reached. */
function* signalSession(session: number, signal: "SIGTERM" | 0): Steps<Reached> {
  let reached: Reached = "gone";
  const hasMember = yield* visitMembers(session, (id) => {
    reached = sum(reached, send(id, signal));
    return signal === 0 && reached === "sent";
  });
  if (hasMember === undefined) return send(-session, signal);
  // Processes that ended during the pass may have started others first.
  return reached === "gone" && hasMember ? "sent" : reached;
}

/** Kills a session at once. */
export const killSession = (session: number): Reached => runAtOnce(killMembers(session));

/**
 * Kills a session. A killed process starts no others, so the last round finds none. One signal reaches the
 * whole first process group, so no process of it can start during the call (kill(2)).
 */
function* killMembers(session: number): Steps<Reached> {
  const killed = new Set<number>();
  let reached: Reached = "gone";
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    const before = killed.size;
    const hasMember = yield* visitMembers(session, (id) => {
      if (killed.has(id)) return false;
      if (killed.size === before) send(-session, "SIGKILL");
      reached = sum(reached, send(id, "SIGKILL"));
      killed.add(id);
      return false;
    });
    if (hasMember === undefined) return send(-session, "SIGKILL");
    if (killed.size === before) break;
  }
  return reached;
}

/** The end of a session. */
export interface SessionEnding {
  /** Whether a signal reached a process of it. */
  readonly wasRunning: boolean;
  /** Whether all its processes have ended. */
  readonly isGone: boolean;
}

/**
 * Terminates a session, and kills it after `graceMs` milliseconds. Resolves when all its processes have
 * ended, at the latest `graceMs` after that; never rejects. `group` contains its processes.
 */
export async function endSession(
  session: number,
  graceMs: number,
  group?: { kill(): void },
): Promise<SessionEnding> {
  let reached = await beginAtOnce(signalSession(session, "SIGTERM"), slice);
  const wasRunning = reached === "sent";
  if (reached === "sent") reached = await pollUntilGone(session, graceMs);
  if (reached === "sent") {
    group?.kill();
    reached = await beginAtOnce(killMembers(session), slice);
  }
  if (reached === "sent") reached = await pollUntilGone(session, graceMs);
  return { wasRunning, isGone: reached === "gone" };
}

/** Polls until a session is gone, which sends no event. */
async function pollUntilGone(session: number, milliseconds: number): Promise<Reached> {
  const end = performance.now() + milliseconds;
  for (;;) {
    // The wait for other sessions is not part of the work, ten times which passes between two polls.
    await slice.yieldIfDue();
    const start = performance.now();
    const reached = await checkSession(session);
    if (reached !== "sent" || start > end) return reached;
    await sleep(Math.max(pollMilliseconds, 10 * (performance.now() - start)));
  }
}

function sum(one: Reached, other: Reached): Reached {
  if (one === "gone" || other === "sent") return other;
  return one;
}

function send(id: number, signal: "SIGTERM" | "SIGKILL" | 0): Reached {
  try {
    process.kill(id, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "forbidden" : "gone";
  }
}
