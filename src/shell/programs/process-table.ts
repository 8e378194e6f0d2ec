/** Reads the sessions in the process table (proc(5), credentials(7)). Linux only. */
import { readdirSync, readFileSync } from "node:fs";
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
 * Returns the ids of a session's running processes, or `undefined` without a process table. Leaves out
 * zombies, since they only wait for their parent.
 */
export function membersOf(session: number): number[] | undefined {
  for (let passes = 0; passes < maxPasses; passes++) {
    const pass = readTable(session);
    if (pass === undefined || pass.members.length > 0 || pass.isStable) return pass?.members;
  }
  return [];
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

/**
 * Makes one pass over the table. It is not stable if a listed process has ended, which may have started
 * another after the list was made.
 */
function readTable(session: number): { readonly members: number[]; readonly isStable: boolean } | undefined {
  const ids = processIds();
  if (ids === undefined) return undefined;
  const members: number[] = [];
  let isStable = true;
  for (const id of ids) {
    const stat = statIn(session, id);
    if (stat === "elsewhere") continue;
    if (stat?.isDead === false) members.push(id);
    else isStable = false;
  }
  return { members, isStable };
}

/** Tries getsid(2) first, which takes a hundredth of the time of reading the file. */
function statIn(session: number, id: number): Stat | "elsewhere" | undefined {
  const known = loadLibc()?.getsid(id);
  if (known !== undefined && known >= 0 && known !== session) return "elsewhere";
  const stat = statOf(id);
  return stat === undefined || stat.session === session ? stat : "elsewhere";
}

interface Stat {
  readonly session: number;
  readonly isDead: boolean;
}

/** The index of `num_threads` among the fields after the name of the program. */
const threadsAt = 17;

function statOf(id: number): Stat | undefined {
  try {
    const text = readFileSync(`/proc/${id}/stat`, "latin1");
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
