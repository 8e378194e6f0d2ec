/** Limits of the processes of a command (getrlimit(2)). */
import { readdirSync, readFileSync, statSync } from "node:fs";
import { beginAtOnce, createTurnSlice, type Steps } from "../../base/scheduling/time-slice.ts";
import type { ResourceLimit } from "./launcher.ts";

/** The limits of a command; 0 means no limit. All but `processes` apply to a single process. */
export interface CommandLimits {
  readonly cpu_seconds: number;
  /** Maximum bytes of memory that the process can write (RLIMIT_DATA). */
  readonly memory_bytes: number;
  /** Maximum bytes of a file that the process writes. */
  readonly file_bytes: number;
  readonly open_files: number;
  /** Maximum processes and threads of the user in addition to those that exist when the command starts. */
  readonly processes: number;
}

/** The lowest limit of open files that lets launchers, and then usual programs, start. */
export const minOpenFiles = 16;

/** RLIMIT_*, the same on x64 and arm64. */
const resources = {
  cpu_seconds: 0,
  file_bytes: 1,
  memory_bytes: 2,
  core_bytes: 4,
  processes: 6,
  open_files: 7,
};

/** The slice of all counts of tasks, since many commands may start in one turn. */
const slice = createTurnSlice();

/**
 * Returns the limits that the launcher sets, as a promise if counting the processes of the user takes long.
 * No process leaves a core file. `isApart` says whether commands have a user namespace, where the kernel
 * counts only their processes.
 */
export const resourceLimits = (
  limits: CommandLimits,
  isApart: boolean,
): ResourceLimit[] | Promise<ResourceLimit[]> => beginAtOnce(computeLimits(limits, isApart), slice);

function* computeLimits(limits: CommandLimits, isApart: boolean): Steps<ResourceLimit[]> {
  const chosen = {
    cpu_seconds: limits.cpu_seconds,
    file_bytes: limits.file_bytes,
    memory_bytes: limits.memory_bytes,
    open_files: limits.open_files,
    processes: limits.processes && limits.processes + (yield* countTasks(isApart)),
  };
  const positive = Object.entries(chosen).filter(([, most]) => most > 0);
  return [
    { resource: resources.core_bytes, most: 0 },
    ...positive.map(([name, most]) => ({ resource: resources[name as keyof typeof chosen], most })),
  ];
}

/**
 * Counts the processes and threads of this user in /proc, which may show fewer than the kernel counts
 * (RLIMIT_NPROC). With `isApart`, it counts those in user namespaces different from that of the worker.
 */
function* countTasks(isApart: boolean): Steps<number> {
  const user = process.getuid?.();
  // The kernel does not limit the processes of root.
  if (user === 0) return 0;
  const map = readUsers("self");
  let tasks = isApart ? 0 : (tryStat("/proc/self/task")?.nlink ?? 0);
  yield;
  for (const name of readdirSync("/proc")) {
    if (!/^\d+$/.test(name)) continue;
    const stats = tryStat(`/proc/${name}/task`);
    const isOfUser = stats !== undefined && stats.uid === user;
    if (isOfUser && !(isApart && readUsers(name) === map)) tasks += stats.nlink - 2;
    yield;
  }
  return tasks;
}

/**
 * Returns the users of the namespace of a process (user_namespaces(7)), or `undefined` if the process has
 * ended.
 */
function readUsers(process: string): string | undefined {
  try {
    return readFileSync(`/proc/${process}/uid_map`, "utf8");
  } catch {
    return undefined;
  }
}

function tryStat(path: string) {
  try {
    return statSync(path);
  } catch {
    return undefined;
  }
}
