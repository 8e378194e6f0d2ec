import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { isLockedExclusively, lockExclusively } from "../jail/flock.ts";
import type { JailedPath } from "../jail/folder.ts";
import { exchangeNames } from "../jail/renameat2.ts";
import { isLinked } from "./move-to-new.ts";

/** A file that is to be replaced if it is what someone has seen. Throws when it is not. */
export interface ReplacedFile {
  /** Looks at nothing but what lstat(2) says. */
  requireStats(path: JailedPath, { isRenamed }: { isRenamed: boolean }): void;
  requireContent(path: JailedPath): void;
}

/** A temporary file, open. */
export interface OpenTemporary {
  readonly path: JailedPath;
  readonly descriptor: number;
}

/**
 * Gives a temporary file the name `to`, whose file must be the expected one; otherwise that stays, and what `expected`
 * throws is thrown. Where the system can exchange two names in one step, no change by another program is lost even in the
 * last moment, because the file is looked at once more when it has lost its name. Elsewhere one that comes between the
 * look and the rename is.
 */
export function replaceExpected(
  { path: from, descriptor }: OpenTemporary,
  to: JailedPath,
  expected: ReplacedFile,
): void {
  expected.requireStats(to, { isRenamed: false });
  const ours = identify(from);
  // Until it is closed: other workers do not build on what may have to go again.
  lockExclusively(descriptor);
  if (!exchangeNames(from, to)) {
    expected.requireContent(to);
    renameSync(from, to);
    return;
  }
  try {
    expected.requireStats(from, { isRenamed: true });
    expected.requireContent(from);
  } catch (error) {
    restore(from, to, ours);
    throw error;
  }
  unlinkSync(from);
}

/** Two names in one folder, and a third one that is free. */
export interface SwappedNames {
  readonly temporary: JailedPath;
  readonly name: JailedPath;
  readonly aside: JailedPath;
}

/**
 * Exchanges what a temporary name and another mean. Where the system has no such call, it takes three, and what had the
 * name has the third one meanwhile. Throws the errno error.
 */
function swapNames(names: SwappedNames): void {
  if (!exchangeNames(names.temporary, names.name)) swapInSteps(names);
}

/**
 * Exchanges them, unless what then has the temporary name is refused by `verify`: that gets its name back, and what
 * `verify` throws is thrown.
 */
export function swapVerified(names: SwappedNames, verify: (path: JailedPath) => void): void {
  const ours = identify(names.temporary);
  swapNames(names);
  try {
    verify(names.temporary);
  } catch (error) {
    restore(names.temporary, names.name, ours, () => {
      swapNames(names);
      return true;
    });
    throw error;
  }
}

/** The same by calls that every system has. */
export function swapInSteps({ temporary, name, aside }: SwappedNames): void {
  const hasBoth = isLinked(name, aside);
  if (!hasBoth) renameSync(name, aside);
  try {
    renameSync(temporary, name);
  } catch (error) {
    if (hasBoth) unlinkSync(aside);
    else renameSync(aside, name);
    throw error;
  }
  renameSync(aside, temporary);
}

const lookMilliseconds = 1;
const mostLooks = 50;

/**
 * Resolves when an opened file has its name for good, if another worker is just giving it that. Some other program may
 * hold such a lock for long, for reasons of its own; after 50 ms it is passed over.
 */
export async function awaitReplacement(descriptor: number): Promise<void> {
  for (let looks = 0; looks < mostLooks && isLockedExclusively(descriptor); looks++)
    await setTimeout(lookMilliseconds);
}

/**
 * Puts back what an exchange took from `to`. What comes out then should be `ours`; if it is something else, another
 * program has put that there meanwhile, it is the newest, and it has to go back in turn. `exchange` is false where it did
 * nothing.
 */
function restore(from: JailedPath, to: JailedPath, ours: string, exchange = exchangeNames): void {
  let placed = ours;
  for (;;) {
    const taken = identify(from);
    if (!exchange(from, to) || identify(from) === placed) return;
    placed = taken;
  }
}

/** Device and inode. */
function identify(path: JailedPath): string {
  const { dev, ino } = lstatSync(path, { bigint: true });
  return `${dev}:${ino}`;
}
