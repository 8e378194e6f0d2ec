/**
 * Signals the session that a program leads (setsid(2)), process by process: all processes that it started, in
 * any process group, except those that made their own session. On systems without a process table, signals
 * only the first process group (kill(2) with a negative id).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { membersOf } from "./process-table.ts";

/** Minimum milliseconds between two polls of a session that has been signalled to end. */
const pollMilliseconds = 5;

/** Maximum passes over processes that start while others are killed. */
const maxRounds = 100;

/**
 * The processes of a session that a signal reached. "sent": some, or some have just ended. "gone": there is
 * none. "forbidden": all belong to other users.
 */
export type Reached = "sent" | "gone" | "forbidden";

/** Sends a signal to every process of a session; 0 only checks. */
export function signalSession(session: number, signal: "SIGTERM" | "SIGKILL" | 0): Reached {
  const members = membersOf(session);
  if (members === undefined) return send(-session, signal);
  const reached = sum(members.map((id) => send(id, signal)));
  // Processes that ended during the pass may have started others first.
  return reached === "gone" && members.length > 0 ? "sent" : reached;
}

/**
 * Kills a session at once. A killed process starts no others, so the last round finds none. One signal
 * reaches the whole first process group, so no process of it can start during the call (kill(2)).
 */
export function killSession(session: number): Reached {
  const killed = new Set<number>();
  let reached: Reached = "gone";
  for (let rounds = 0; rounds < maxRounds; rounds++) {
    const members = membersOf(session);
    if (members === undefined) return send(-session, "SIGKILL");
    const fresh = members.filter((id) => !killed.has(id));
    if (fresh.length === 0) break;
    send(-session, "SIGKILL");
    reached = sum([reached, ...fresh.map((id) => send(id, "SIGKILL"))]);
    for (const id of fresh) killed.add(id);
  }
  return reached;
}

/**
 * Terminates a session, and kills it after `graceMs` milliseconds. Resolves when all its processes have
 * ended, at the latest `graceMs` after that, with whether they have; never rejects. `group` contains its
 * processes.
 */
export async function endSession(
  session: number,
  graceMs: number,
  group?: { kill(): void },
): Promise<boolean> {
  let reached = signalSession(session, "SIGTERM");
  if (reached === "sent") reached = await pollUntilGone(session, graceMs);
  if (reached === "sent") {
    group?.kill();
    reached = killSession(session);
  }
  if (reached === "sent") reached = await pollUntilGone(session, graceMs);
  return reached === "gone";
}

/** Polls until a session is gone, which sends no event. */
async function pollUntilGone(session: number, milliseconds: number): Promise<Reached> {
  const end = performance.now() + milliseconds;
  for (;;) {
    const start = performance.now();
    const reached = signalSession(session, 0);
    if (reached !== "sent" || start > end) return reached;
    await sleep(Math.max(pollMilliseconds, 10 * (performance.now() - start)));
  }
}

const sum = (all: readonly Reached[]): Reached =>
  all.find((reached) => reached === "sent") ?? all.find((reached) => reached === "forbidden") ?? "gone";

function send(id: number, signal: "SIGTERM" | "SIGKILL" | 0): Reached {
  try {
    process.kill(id, signal);
    return "sent";
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM" ? "forbidden" : "gone";
  }
}
