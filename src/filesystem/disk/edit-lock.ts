/**
 * Lets one worker at a time take a name in a folder away from a file. The file removed from the name may have
 * to go back, and until it is there no other worker may build on the file that has the name.
 */
import { closeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import type { Deadline } from "../../base/scheduling/deadline.ts";
import { tryLockExclusively } from "../jail/flock.ts";
import type { Folder } from "../jail/folder.ts";
import { canExchangeNames } from "../jail/renameat2.ts";
import { openFolder } from "./open-folder.ts";

export interface Locked {
  readonly folder: Folder;
  /** The deadline of the wait; if absent, only the limit of the lock itself applies. */
  readonly deadline?: Deadline | undefined;
}

/**
 * Runs `act`, which must not pause, while no other worker does so for the same folder. Throws the timeout
 * refusal.
 */
export type EditLock = <T>(locked: Locked, act: () => T) => Promise<T>;

/** The lock of all folders of a root. Throws the timeout refusal. */
export type RootEditLock = (deadline: Deadline | undefined) => Promise<Disposable>;

/**
 * Creates the lock of a folder, which is flock(2) of the folder itself, so that workers see each other
 * whatever their roots and their state folders are. `lockAll` replaces it for runtimes, file systems and
 * folders that do not permit it.
 */
export const createEditLock =
  (lockAll?: RootEditLock): EditLock =>
  async (locked, act) => {
    const outcome = canExchangeNames() ? tryLockFolder(locked.folder) : "impossible";
    using _lock = typeof outcome === "string" ? await waitFor(outcome, locked, lockAll) : outcome;
    return act();
  };

const waitFor = (
  outcome: "busy" | "impossible",
  locked: Locked,
  lockAll: RootEditLock | undefined,
): Promise<Disposable | undefined> | undefined =>
  outcome === "busy" ? awaitFolder(locked) : lockAll?.(locked.deadline);

const lookMilliseconds = 1;
const maxLooks = 1000;

/**
 * Waits for the lock of a folder. Another program may hold it for long, for reasons of its own; it is ignored
 * after somewhat more than a second.
 */
async function awaitFolder({ folder, deadline }: Locked): Promise<Disposable | undefined> {
  for (let looks = 0; looks < maxLooks; looks++) {
    await setTimeout(lookMilliseconds);
    deadline?.check();
    const outcome = tryLockFolder(folder);
    if (typeof outcome !== "string") return outcome;
  }
  return undefined;
}

function tryLockFolder(folder: Folder): Disposable | "busy" | "impossible" {
  let descriptor: number;
  try {
    descriptor = openFolder(folder);
  } catch {
    return "impossible"; // The folder may be entered but not listed.
  }
  const outcome = tryLockExclusively(descriptor);
  if (outcome === "locked") return { [Symbol.dispose]: () => closeSync(descriptor) };
  closeSync(descriptor);
  return outcome;
}
