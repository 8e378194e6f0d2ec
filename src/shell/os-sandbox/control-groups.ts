/**
 * Control groups (cgroups(7)): the processes of each command are in one of their own, which bounds and ends
 * them together.
 */
import {
  existsSync,
  mkdtempSync,
  readdirSync,
  readFileSync,
  readlinkSync,
  rmdirSync,
  writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import type { RequiredCall } from "./mounts.ts";

/** One group, for one command. */
export interface ControlGroup {
  /** The file by which a process enters it. */
  readonly processes: string;
  /** Kills all that is in it, without waiting. Nothing in it can start a process any more. */
  kill(): void;
  /** Removes it as soon as it is empty. Never throws. */
  remove(): void;
}

export interface ControlGroups {
  /**
   * Makes a group of at most `most` processes and threads; 0 is no limit. Throws where the system makes no
   * more.
   */
  create(most: number): ControlGroup;
  close(): void;
}

/** Where the controller "pids" is mounted, in the group of this process. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly folder: string;
}

/** Most passes for processes that start while others are killed. */
const maxRounds = 100;

/**
 * Opens the groups for this worker. Undefined where the system has none that it may use, and for all users
 * but root: those have RLIMIT_NPROC, and entering a group takes milliseconds.
 */
export function openControlGroups(): ControlGroups | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const hierarchy = findHierarchy(
      readFileSync("/proc/self/cgroup", "utf8"),
      readFileSync("/proc/self/mountinfo", "utf8"),
    );
    return hierarchy && openIn(hierarchy);
  } catch {
    return undefined;
  }
}

/**
 * Finds the controller from `/proc/self/cgroup` and `/proc/self/mountinfo` (proc(5)): version 1, where "pids"
 * is mounted by itself, before 2. Undefined where neither shows the group of this process.
 */
export function findHierarchy(groups: string, mounts: string): Hierarchy | undefined {
  for (const version of [1, 2] as const) {
    const group = groups
      .split("\n")
      .map((line) => /^\d+:([^:]*):(.*)$/.exec(line))
      .find((line) => (version === 2 ? line?.[1] === "" : line?.[1]?.split(",").includes("pids")))?.[2];
    const mount = mounts
      .split("\n")
      .map(readMount)
      .find(({ type, options }) =>
        version === 2 ? type === "cgroup2" : type === "cgroup" && options.includes("pids"),
      );
    if (group === undefined || mount === undefined) continue;
    const { root, point } = mount;
    if (root === "/") return { version, folder: resolve(point, `.${group}`) };
    if (group === root || group.startsWith(`${root}/`))
      return { version, folder: resolve(point, `.${group.slice(root.length)}`) };
  }
  return undefined;
}

/** Fields 4 and 5, and those behind the separator. */
function readMount(line: string) {
  const [before = "", after = ""] = line.split(" - ", 2);
  const [, , , root = "", point = ""] = before.split(" ").map(unescapeOctal);
  const [type = "", , options = ""] = after.split(" ");
  return { root, point, type, options: options.split(",") };
}

const unescapeOctal = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** The calls by which a process enters a group; `free` is the number of its next descriptor. */
export const joinCalls = (processes: string, free: number): RequiredCall[] => [
  ["openat", 0, processes, writeOnly],
  ["write", free, "0", 1],
  ["close", free],
];

const writeOnly = 1;

/** Throws where the worker may make no groups. */
export function openIn({ version, folder }: Hierarchy): ControlGroups {
  // Ids of processes mean something in one namespace of them only (pid_namespaces(7)).
  const namespace = /\d+/.exec(readlinkSync("/proc/self/ns/pid"))?.[0] ?? "0";
  const prefix = `coder-${namespace}-`;
  removeAbandoned(folder, prefix);
  const ownPrefix = join(folder, `${prefix}${process.pid}-`);
  const leave = version === 2 ? delegate(folder, ownPrefix) : () => {};
  const lingering = new Set<string>();
  const tryRemove = (path: string) => {
    try {
      rmdirSync(path);
      lingering.delete(path);
    } catch {
      lingering.add(path);
    }
  };
  const create = (most: number): ControlGroup => {
    for (const path of lingering) tryRemove(path);
    const path = mkdtempSync(ownPrefix);
    writeFileSync(join(path, "pids.max"), most === 0 ? "max" : String(most));
    return {
      processes: join(path, "cgroup.procs"),
      kill: () => killGroup(path),
      remove: () => tryRemove(path),
    };
  };
  try {
    create(1).remove();
  } catch (error) {
    leave();
    throw error;
  }
  return {
    create,
    close() {
      for (const path of lingering) tryRemove(path);
      leave();
    },
  };
}

/**
 * Has the groups below `folder` bounded. In version 2 only a group without processes of its own can do that
 * ("no internal processes"), so the worker goes into one beside them, until the returned function takes it
 * back.
 */
function delegate(folder: string, prefix: string): () => void {
  const worker = mkdtempSync(`${prefix}worker-`);
  const enter = (path: string) => writeFileSync(join(path, "cgroup.procs"), String(process.pid));
  const control = (change: string) => writeFileSync(join(folder, "cgroup.subtree_control"), change);
  const isAlreadyOn = readFileSync(join(folder, "cgroup.subtree_control"), "utf8").includes("pids");
  const leave = () => {
    try {
      try {
        enter(folder);
      } catch {
        // Not where others may have groups, which lose their bounds by this: at the root of the hierarchy
        // that has worked.
        if (!isAlreadyOn) control("-pids");
        enter(folder);
      }
      rmdirSync(worker);
    } catch {
      // Another worker has groups here. The next that opens some removes this one.
    }
  };
  try {
    enter(worker);
    if (!isAlreadyOn) control("+pids");
  } catch (error) {
    leave();
    throw error;
  }
  return leave;
}

/** Ends and removes the groups of workers that are gone. */
function removeAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    const id = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(id) || isRunning(id)) continue;
    const path = join(folder, name);
    killGroup(path);
    try {
      rmdirSync(path);
    } catch {
      // What was killed is not gone yet: the next worker removes it.
    }
  }
}

function isRunning(id: number): boolean {
  try {
    process.kill(id, 0);
    return true;
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === "EPERM";
  }
}

function killGroup(path: string): void {
  try {
    if (existsSync(join(path, "cgroup.kill"))) {
      writeFileSync(join(path, "cgroup.kill"), "1");
      return;
    }
    writeFileSync(join(path, "pids.max"), "0");
    const killed = new Set<number>();
    for (let rounds = 0; rounds < maxRounds; rounds++) {
      const ids = readFileSync(join(path, "cgroup.procs"), "utf8").split("\n").filter(Boolean).map(Number);
      // One that is about to go is listed still.
      const fresh = ids.filter((id) => id > 0 && !killed.has(id));
      if (fresh.length === 0) return;
      for (const id of fresh) {
        killed.add(id);
        tryKill(id);
      }
    }
  } catch {
    // The group has been removed, so none of its processes is left.
  }
}

function tryKill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // It has ended by itself.
  }
}
