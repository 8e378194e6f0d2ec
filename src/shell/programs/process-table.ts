/** Reads the sessions in the process table (proc(5), credentials(7)). Linux only. */
import { closeSync, openSync, readdirSync, readFileSync, readSync } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { loadLibc } from "./libc.ts";

/** Returns the ids of all processes, or `undefined` without a process table of this namespace. */
export function processIds(): number[] | undefined {
  try {
    const ids = readdirSync("/proc").map(Number).filter(Number.isInteger);
    return ids.includes(process.pid) ? ids : undefined;
  } catch {
    return undefined;
  }
}

/** Maximum passes. A session is stable after fewer, unless it tries to escape. */
const maxPasses = 5;

/**
 * Visits the running processes of a session until `visit` returns true. Returns whether there was one, or
 * `undefined` without a process table. Leaves out zombies, since they only wait for their parent. `readIds`
 * reads the ids of all processes.
 */
export function* visitMembers(
  session: number,
  visit: (id: number) => boolean,
  readIds: () => number[] | undefined = processIds,
): Steps<boolean | undefined> {
  // A zombie that an earlier pass has seen had started all its processes before the list of this one.
  const zombies = new Set<number>();
  for (let passes = 0; passes < maxPasses; passes++) {
    // The slice may be used up before the first pass.
    yield;
    const ids = readIds();
    if (ids === undefined) return undefined;
    // A process that has ended may have started another after the list was made.
    let [hasMember, isStable] = [false, true];
    for (const { id, state } of statesIn(session, ids)) {
      if (state === "runs") {
        hasMember = true;
        if (visit(id)) return true;
      } else {
        isStable &&= zombies.has(id);
        if (state === "zombie") zombies.add(id);
      }
      yield;
    }
    if (hasMember || isStable) return hasMember;
  }
  return false;
}

/** Returns whether a process, or a zombie, has this id. */
export const isProcess = (id: number): boolean => statOf(id) !== undefined;

/**
 * Returns the name of a process's program, at most 15 bytes, as the process has set it; empty if the process
 * has ended.
 */
export function programNameOf(id: number): string {
  try {
    return readFileSync(`/proc/${id}/comm`, "utf8").trimEnd();
  } catch {
    return "";
  }
}

/** The state of a process in a session: running, a zombie that its parent has not reaped, or gone. */
type ProcessState = "runs" | "zombie" | "ended";

const noHang = 1;

/**
 * Yields the processes that are in the session, or have ended since the list was made. Selects them in one
 * step, so that few end before it: getsid(2) takes a hundredth of the time of reading a file.
 */
function* statesIn(session: number, ids: readonly number[]) {
  const libc = loadLibc();
  const sessionOf = libc && ((id: number) => libc.getsid(id));
  const candidates = ids.filter((id) => {
    const known = sessionOf?.(id) ?? -1;
    return known < 0 || known === session;
  });
  for (const id of candidates) {
    // The runtime, not this, reaps the leader. Others that have become children (see `Subreaper`) are reaped
    // here: a session with a thousand zombies would take long to read each time. 0: a child that runs.
    const mayBeChild = id !== session && sessionOf?.(id) === session;
    const child = mayBeChild ? libc?.waitpid(id, null, noHang) : undefined;
    if (child === 0 || child === id) {
      yield { id, state: child === 0 ? "runs" : "ended" } as const;
      continue;
    }
    const stat = statOf(id);
    if (stat !== undefined && stat.session !== session) continue;
    const state: ProcessState = stat === undefined ? "ended" : stat.isDead ? "zombie" : "runs";
    yield { id, state };
  }
}

interface Stat {
  readonly session: number;
  readonly isDead: boolean;
}

/** The index of `num_threads` among the fields after the name of the program. */
const threadsAt = 17;

/** Longer than any line of `stat`. */
const buffer = Buffer.alloc(1024);

/** Reads the line in three system calls. */
function readStat(id: number): string {
  const descriptor = openSync(`/proc/${id}/stat`, "r");
  try {
    return buffer.toString("latin1", 0, readSync(descriptor, buffer, 0, buffer.length, 0));
  } finally {
    closeSync(descriptor);
  }
}

function statOf(id: number): Stat | undefined {
  try {
    const text = readStat(id);
    // The second field is the program's name in parentheses, which may hold anything.
    const fields = text.slice(text.lastIndexOf(")") + 2).split(" ");
    const [state = "", , , session] = fields;
    // A process whose first thread has ended is shown as a zombie even if its other threads run.
    const threads = Number(fields[threadsAt]);
    return { session: Number(session), isDead: state === "X" || (state === "Z" && threads <= 1) };
  } catch {
    return undefined;
  }
}
