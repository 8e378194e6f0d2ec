/**
 * Control groups (cgroups(7)). The processes of each command are in a group of their own, which limits and
 * ends them together.
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
import { shortageIn } from "../../base/shortage.ts";
import type { RequiredCall } from "./encoded-calls.ts";

/** The control group of one command. */
export interface ControlGroup {
  /** The file that a process writes its id to in order to enter the group. */
  readonly processes: string;
  /** Kills all processes in the group, without waiting. None of them can start another. */
  kill(): void;
  /** Returns whether no process is in the group. */
  isEmpty(): boolean;
  /** Removes the group as soon as it is empty. Never throws. */
  remove(): void;
}

export interface ControlGroups {
  /**
   * Makes a group of at most `most` processes and threads; 0 means no limit. Throws if the system makes no
   * further groups.
   */
  create(most: number): ControlGroup;
  close(): void;
}

/** The mount of the controller "pids", at the group of this process. */
export interface Hierarchy {
  readonly version: 1 | 2;
  readonly folder: string;
}

/** Maximum passes over processes that start while others are killed. */
const maxRounds = 100;

/**
 * Opens the groups of this worker. Returns `undefined` if the system has none that the worker may use, and
 * for all users but root: those have RLIMIT_NPROC, and entering a group takes milliseconds.
 */
export function openControlGroups(): ControlGroups | undefined {
  if (process.getuid?.() !== 0) return undefined;
  try {
    const hierarchy = findHierarchy(
      readFileSync("/proc/self/cgroup", "utf8"),
      readFileSync("/proc/self/mountinfo", "utf8"),
    );
    return hierarchy && openIn(hierarchy);
  } catch (error) {
    // EAGAIN means that the group may have no further groups below it (cgroups(7)).
    const shortage = shortageIn(error);
    if (shortage !== undefined && shortage !== "EAGAIN") throw error;
    return undefined;
  }
}

/**
 * Finds the controller in `/proc/self/cgroup` and `/proc/self/mountinfo` (proc(5)). Version 1, which mounts
 * "pids" by itself, takes precedence over version 2. Returns `undefined` if neither shows the group of this
 * process.
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

/** Reads fields 4 and 5 of a line, and those after the separator. */
function readMount(line: string) {
  const [before = "", after = ""] = line.split(" - ", 2);
  const [, , , root = "", point = ""] = before.split(" ").map(unescapeOctal);
  const [type = "", , options = ""] = after.split(" ");
  return { root, point, type, options: options.split(",") };
}

const unescapeOctal = (text: string) =>
  text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Returns the system calls that enter a group. `free` is the number of the next free descriptor. */
export const joinCalls = (processes: string, free: number): RequiredCall[] => [
  ["openat", 0, processes, writeOnly],
  ["write", free, "0", 1],
  ["close", free],
];

const writeOnly = 1;

/** Opens groups in a folder. Throws if the worker may not make groups. */
export function openIn({ version, folder }: Hierarchy): ControlGroups {
  // The id of a process is valid in one namespace only (pid_namespaces(7)).
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
      isEmpty: () => isEmpty(path),
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
 * Turns on limits for the groups below `folder`. In version 2, only a group without processes of its own can
 * do that ("no internal processes"), so the worker enters a group beside them, until the returned function
 * moves it back.
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
        // If limits were on before, other programs may have groups here, which would lose theirs. At the root
        // of the hierarchy, no process is refused.
        if (!isAlreadyOn) control("-pids");
        enter(folder);
      }
      rmdirSync(worker);
    } catch {
      // Another worker has groups here. The next one to open some removes this one.
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

/** Ends and removes the groups of workers that have ended. */
function removeAbandoned(folder: string, prefix: string): void {
  for (const name of readdirSync(folder)) {
    const id = name.startsWith(prefix) ? Number.parseInt(name.slice(prefix.length), 10) : Number.NaN;
    if (Number.isNaN(id) || isRunning(id)) continue;
    const path = join(folder, name);
    killGroup(path);
    try {
      rmdirSync(path);
    } catch {
      // The killed processes have not ended yet. The next worker removes the group.
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
      // A process that is about to end is still listed.
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

function isEmpty(path: string): boolean {
  try {
    return readFileSync(join(path, "cgroup.procs"), "utf8") === "";
  } catch {
    return true;
  }
}

function tryKill(id: number): void {
  try {
    process.kill(id, "SIGKILL");
  } catch {
    // The process has ended by itself.
  }
}
