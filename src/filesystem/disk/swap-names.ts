import { closeSync, constants, openSync, renameSync, unlinkSync } from "node:fs";
import { setTimeout } from "node:timers/promises";
import { isLockedExclusively, lockExclusively } from "../jail/flock.ts";
import type { JailedPath } from "../jail/folder.ts";
import { inodeAt, requireInode } from "../jail/inode.ts";
import { O_PATH } from "../jail/openat.ts";
import { exchangeNames } from "../jail/renameat2.ts";
import { isLinked } from "./move-to-new.ts";

/** A file that may be replaced only if it is the one that was read. Throws if it is not. */
export interface ReplacedFile {
  /** Checks only the results of lstat(2). */
  requireStats(path: JailedPath, { isRenamed }: { isRenamed: boolean }): void;
  requireContent(path: JailedPath): void;
}

export interface OpenTemporary {
  readonly path: JailedPath;
  readonly descriptor: number;
  /** Its inode: another program may have replaced it. */
  readonly inode: string;
}

/** The operations of an exchange on names. */
export interface NameCalls {
  /** Exchanges two names. Returns false if nothing was done. */
  exchange(one: JailedPath, other: JailedPath): boolean;
  rename(from: JailedPath, to: JailedPath): void;
  unlink(path: JailedPath): void;
  inodeAt(path: JailedPath): string;
  requireInode(path: JailedPath, inode: string): void;
  /** Keeps the inode of a file in use. Otherwise a new file could get it, and pass for the old one. */
  hold(path: JailedPath): Disposable | undefined;
}

const systemCalls: NameCalls = {
  exchange: exchangeNames,
  rename: renameSync,
  unlink: unlinkSync,
  inodeAt,
  requireInode,
  hold: holdInode,
};

/** Holds an inode. Does nothing if it cannot: putting a file back must not fail for lack of a descriptor. */
function holdInode(path: JailedPath): Disposable | undefined {
  if (process.platform !== "linux") return undefined;
  try {
    const descriptor = openSync(path, O_PATH | constants.O_NOFOLLOW);
    return { [Symbol.dispose]: () => closeSync(descriptor) };
  } catch {
    return undefined;
  }
}

type Pair = readonly [from: JailedPath, to: JailedPath];

interface Exchange {
  readonly pair: Pair;
  /** The inode of the entry at `from`. */
  readonly placed: string;
  readonly verify: () => void;
}

/**
 * Exchanges two names in one step, the only way in which a name changes its file while another program may
 * write to it. Returns false, with nothing done, if the system cannot; each caller has another way then. An
 * error of `verify` reverts the exchange.
 */
function exchangeVerified({ pair, placed, verify }: Exchange, calls: NameCalls): boolean {
  if (!calls.exchange(...pair)) return false;
  try {
    verify();
  } catch (error) {
    restore(pair, placed, calls);
    throw error;
  }
  return true;
}

/**
 * Gives a temporary file the name `to`, whose file must be the expected one; otherwise that stays, and the
 * error of `expected` is thrown. Throws ESTALE if another program has replaced the temporary file. If the
 * system can exchange two names in one step, no change by another program is lost even in the last moment,
 * because the old file is checked again after it has lost its name. Elsewhere a change between the check and
 * the rename is lost. Call it with the `EditLock` of the folder.
 */
export function replaceExpected(
  { path: from, descriptor, inode }: OpenTemporary,
  to: JailedPath,
  expected: ReplacedFile,
  calls = systemCalls,
): void {
  expected.requireStats(to, { isRenamed: false });
  // The lock lasts until the file is closed: other workers do not build on a file that may have to go again.
  lockExclusively(descriptor);
  const verify = () => {
    expected.requireStats(from, { isRenamed: true });
    expected.requireContent(from);
  };
  calls.requireInode(from, inode);
  if (exchangeVerified({ pair: [from, to], placed: inode, verify }, calls)) calls.unlink(from);
  else {
    expected.requireContent(to);
    calls.rename(from, to);
  }
}

/** Two names in one folder, and a third one that is free. */
export interface SwappedNames {
  readonly temporary: JailedPath;
  readonly name: JailedPath;
  readonly aside: JailedPath;
}

/**
 * Exchanges the entries of a temporary name and another, unless `verify` refuses the entry that then has the
 * temporary name: that gets its name back, and the error is thrown. If the system has no such call, it takes
 * three, and the old entry has the third name in between. Throws the errno error. Call it with the `EditLock`
 * of the folder.
 */
export function swapVerified(names: SwappedNames, verify: (path: JailedPath) => void): void {
  using _held = holdInode(names.temporary);
  const exchange: Exchange = {
    pair: [names.temporary, names.name],
    placed: inodeAt(names.temporary),
    verify: () => verify(names.temporary),
  };
  if (exchangeVerified(exchange, systemCalls)) return;
  const inSteps = () => {
    swapInSteps(names);
    return true;
  };
  exchangeVerified(exchange, { ...systemCalls, exchange: inSteps });
}

/** Like `swapVerified`, but with calls that every system has. */
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
const maxLooks = 50;

/**
 * Resolves when an opened file has its final name, if another worker is just giving it that. Another program
 * may hold such a lock for long, for reasons of its own; after 50 ms it is ignored.
 */
export async function awaitReplacement(descriptor: number): Promise<void> {
  for (let looks = 0; looks < maxLooks && isLockedExclusively(descriptor); looks++)
    await setTimeout(lookMilliseconds);
}

/**
 * Reverts an exchange. The entry that leaves `to` should be the one that was put there; if it is not, another
 * program has put a newer one there since, which has to go back in turn.
 */
function restore([from, to]: Pair, placed: string, calls: NameCalls): void {
  using _held = calls.hold(from);
  const taken = calls.inodeAt(from);
  if (calls.exchange(from, to) && calls.inodeAt(from) !== placed) restore([from, to], taken, calls);
}
