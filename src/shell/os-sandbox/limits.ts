/** Limits of the processes of a command (getrlimit(2)). */
import { readdirSync, readFileSync, statSync } from "node:fs";
import type { ResourceLimit } from "./launcher.ts";

/** 0 is no limit. Each is of one process, but `processes`. */
export interface CommandLimits {
  readonly cpu_seconds: number;
  /** Bytes of memory that it can write (RLIMIT_DATA). */
  readonly memory_bytes: number;
  /** Bytes of a file that it writes. */
  readonly file_bytes: number;
  readonly open_files: number;
  /** Processes and threads that the user may have besides those there are when the command starts. */
  readonly processes: number;
}

/** RLIMIT_*, the same on x64 and arm64. */
const resources = {
  cpu_seconds: 0,
  file_bytes: 1,
  memory_bytes: 2,
  core_bytes: 4,
  processes: 6,
  open_files: 7,
};

/**
 * What the launcher sets. No process leaves a core file. `isApart` says whether commands have a user
 * namespace, where the kernel counts their processes only.
 */
export function resourceLimits(limits: CommandLimits, isApart: boolean): ResourceLimit[] {
  const chosen = {
    cpu_seconds: limits.cpu_seconds,
    file_bytes: limits.file_bytes,
    memory_bytes: limits.memory_bytes,
    open_files: limits.open_files,
    processes: limits.processes && limits.processes + countTasks(isApart),
  };
  const positive = Object.entries(chosen).filter(([, most]) => most > 0);
  return [
    { resource: resources.core_bytes, most: 0 },
    ...positive.map(([name, most]) => ({ resource: resources[name as keyof typeof chosen], most })),
  ];
}

/**
 * The processes and threads of this user, as far as /proc shows them: the kernel counts them all
 * (RLIMIT_NPROC). With `isApart`, those in other user namespaces than that of the worker.
 */
function countTasks(isApart: boolean): number {
  const user = process.getuid?.();
  // The kernel does not bound those of root.
  if (user === 0) return 0;
  const map = readUsers("self");
  const own = isApart ? 0 : (tryStat("/proc/self/task")?.nlink ?? 0);
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map((name) => ({ name, stats: tryStat(`/proc/${name}/task`) }))
    .filter(({ name, stats }) => stats?.uid === user && !(isApart && readUsers(name) === map))
    .reduce((sum, { stats }) => sum + (stats?.nlink ?? 2) - 2, own);
}

/** The users of the namespace of a process (user_namespaces(7)); undefined for one that has gone. */
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
