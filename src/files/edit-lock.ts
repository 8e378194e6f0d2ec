/**
 * Lets one worker at a time take a name in a folder away from a file. What then comes out may have to go back, and until it
 * is there no other worker may build on what has the name.
 */
import { closeSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { tryLockExclusively } from "../jail/flock.ts";
import type { Folder } from "../jail/folder.ts";
import { canExchangeNames } from "../jail/renameat2.ts";
import type { Deadline } from "../scheduling/deadline.ts";
import { openFolder } from "./open-folder.ts";

export interface Locked {
  readonly folder: Folder;
  /** Of the wait; absent: none but that of the lock itself. */
  readonly deadline?: Deadline | undefined;
}

/** Runs `act`, which does not pause, while no other worker does so for the same folder. Throws the timeout refusal. */
export type EditLock = <T>(locked: Locked, act: () => T) => Promise<T>;

/** The lock of all folders of a root. Throws the timeout refusal. */
export type RootEditLock = (deadline: Deadline | undefined) => Promise<Disposable>;

/**
 * The lock of a folder is flock(2) of the folder itself, by which workers see each other whatever their roots and their
 * state folders are. `lockAll` takes its place for runtimes, file systems and folders that do not permit it.
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
const mostLooks = 1000;

/** Some other program may hold such a lock for long, for reasons of its own: it is passed over after a second and more. */
async function awaitFolder({ folder, deadline }: Locked): Promise<Disposable | undefined> {
  for (let looks = 0; looks < mostLooks; looks++) {
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
    return "impossible"; // One may enter it and not list it.
  }
  const outcome = tryLockExclusively(descriptor);
  if (outcome === "locked") return { [Symbol.dispose]: () => closeSync(descriptor) };
  closeSync(descriptor);
  return outcome;
}
