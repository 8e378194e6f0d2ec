/** Admits one transaction at a time to a root, across all workers. */
import {
  closeSync,
  fstatSync,
  linkSync,
  openSync,
  readFileSync,
  renameSync,
  unlinkSync,
  writeFileSync,
} from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { createSemaphore } from "../../base/scheduling/semaphore.ts";
import type { RootEditLock } from "../disk/edit-lock.ts";
import { errnoOf } from "../jail/errno.ts";
import { tryLockExclusively } from "../jail/flock.ts";
import { isGone, makerOf, temporaryName } from "../jail/temporary.ts";
import type { StateFolder } from "../state/state-folder.ts";

const firstWaitMilliseconds = 1;
const maxWaitMilliseconds = 50;

/**
 * Waits for the lock of the root until `deadline`. Throws the timeout refusal, and the errno error. Dispose
 * of the lock.
 */
export async function lockRoot(folder: StateFolder, deadline?: Deadline): Promise<Disposable> {
  return await lockFile(folder.path("lock"), deadline);
}

/**
 * Returns the lock that a worker holds while it compares a file and replaces it, if it cannot lock the folder
 * of the file.
 */
export function editLockIn(folder: StateFolder): RootEditLock {
  const turns = createSemaphore({ permits: 1 });
  return async (deadline) => {
    const turn = turns.tryAcquire() ?? (await turns.acquire({ signal: deadline?.signal }));
    try {
      const lock = await lockFile(folder.path("edits"), deadline);
      return {
        [Symbol.dispose]() {
          lock[Symbol.dispose]();
          turn[Symbol.dispose]();
        },
      };
    } catch (error) {
      turn[Symbol.dispose]();
      throw error;
    }
  };
}

async function lockFile(path: string, deadline: Deadline | undefined): Promise<Disposable> {
  for (let wait = firstWaitMilliseconds; ; wait = Math.min(wait * 2, maxWaitMilliseconds)) {
    const lock = tryLock(path);
    if (lock !== undefined) return lock;
    deadline?.check();
    await setTimeout(wait);
  }
}

function tryLock(path: string): Disposable | undefined {
  const descriptor = openSync(path, "a+", 0o600);
  const outcome = tryLockExclusively(descriptor);
  if (outcome === "locked") return { [Symbol.dispose]: () => closeSync(descriptor) };
  closeSync(descriptor);
  return outcome === "busy" ? undefined : tryLockByName(`${path}.held`);
}

/**
 * Locks without file locks, by a file with the name of its maker, which one process can make and others can
 * see.
 */
export function tryLockByName(path: string): Disposable | undefined {
  const ours = temporaryName();
  const made = `${path}-${ours.slice(1)}`;
  writeFileSync(made, ours, { mode: 0o600, flag: "wx" });
  try {
    linkSync(made, path);
    return { [Symbol.dispose]: () => unlinkSync(path) };
  } catch (error) {
    if (errnoOf(error) !== "EEXIST") throw error;
    breakAbandoned(path, `${made}-old`);
    return undefined;
  } finally {
    unlinkSync(made);
  }
}

/**
 * Maximum age of a lock. A call lasts an hour at most, so an older lock has no owner, even if its process is
 * beyond the reach of a probe.
 */
const oldestInUseMilliseconds = 2 * 60 * 60_000;

function breakAbandoned(path: string, aside: string): void {
  try {
    if (!isAbandoned(path)) return;
    renameSync(path, aside);
    // Another process may have broken it first, and taken the lock.
    if (!isAbandoned(aside)) linkSync(aside, path);
    unlinkSync(aside);
  } catch (error) {
    if (errnoOf(error) !== "ENOENT") throw error;
  }
}

function isAbandoned(path: string): boolean {
  const descriptor = openSync(path, "r");
  try {
    const maker = makerOf(readFileSync(descriptor, "utf8"));
    if (maker !== undefined && isGone(maker)) return true;
    return Date.now() - fstatSync(descriptor).mtimeMs > oldestInUseMilliseconds;
  } finally {
    closeSync(descriptor);
  }
}
