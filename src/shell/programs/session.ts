/**
 * Signals the session that a program leads (setsid(2)), process by process: every process that it started,
 * whatever its process group, unless that made itself a session of its own. Where there is no process table,
 * the first process group stands for the session (kill(2) with a negative id).
 */
import { setTimeout as sleep } from "node:timers/promises";
import { membersOf } from "./process-table.ts";

/** Least milliseconds between two polls of a session that was signalled to end. */
const pollMilliseconds = 5;

/** Most passes for processes that start while others are killed. */
const maxRounds = 100;

/**
 * Which processes of a session a signal has reached. "sent": some, or some have just gone. "gone": there is
 * none. "forbidden": all belong to other users.
 */
export type Reached = "sent" | "gone" | "forbidden";

/** Sends a signal to every process of a session; 0 only checks. */
export function signalSession(session: number, signal: "SIGTERM" | "SIGKILL" | 0): Reached {
  const members = membersOf(session);
  if (members === undefined) return send(-session, signal);
  const reached = sum(members.map((id) => send(id, signal)));
  // Those that have gone meanwhile may have started others first.
  return reached === "gone" && members.length > 0 ? "sent" : reached;
}

/**
 * Kills a session at once. After SIGKILL a process starts no others, so the last round finds none; and one
 * signal reaches the whole first process group, so none of it can be born meanwhile (kill(2)).
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
 * Terminates a session, and kills it after `graceMs` milliseconds. Resolves when nothing of it runs any more,
 * at the latest `graceMs` after that, with whether it is gone; never rejects. `group` holds its processes.
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

/** A session sends no event when its last process is gone. */
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
