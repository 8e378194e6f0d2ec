import {
  closeSync,
  constants,
  linkSync,
  lstatSync,
  mkdirSync,
  openSync,
  readlinkSync,
  renameSync,
  rmdirSync,
  symlinkSync,
  unlinkSync,
} from "node:fs";
import { refuse } from "../../base/errors.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath } from "../jail/folder.ts";
import { renameExclusively } from "../jail/renameat2.ts";
import type { PinnedEntry } from "./held-entry.ts";

/**
 * Renames the entry at `from` to `to`, unless that exists, which rename(2) would replace: then it throws
 * exists for `requested`, and otherwise the errno error.
 */
export function moveToNew(from: JailedPath, to: JailedPath, requested: string): void {
  if (renameExclusively(from, to)) return;
  try {
    moveInSteps(from, to);
  } catch (error) {
    throw errnoOf(error) === "EEXIST" ? refuse.exists(requested) : error;
  }
}

/**
 * Like `moveToNew`, but for a step of a transaction, whose entry must stay the same file, recognized by its
 * inode. If two calls are needed, a file has both names for a moment. Throws the errno error, EEXIST if the
 * name is taken.
 */
export function moveSameEntry(from: JailedPath, to: JailedPath): void {
  if (!renameExclusively(from, to)) moveSameInSteps(from, to);
}

/** Gives an entry the name of the pinned one, or a free name. Throws ESTALE if another entry has it. */
export function replacePinned(
  [from, to]: readonly [JailedPath, JailedPath],
  pinned: PinnedEntry | undefined,
  mayBeWritten: boolean,
): void {
  const stale = pinned === undefined ? "EEXIST" : "ENOENT";
  try {
    if (pinned === undefined) moveSameEntry(from, to);
    else pinned.requireSame(to, mayBeWritten);
  } catch (error) {
    throw errnoOf(error) === stale ? errnoError("ESTALE") : error;
  }
  if (pinned !== undefined) renameSync(from, to);
}

/**
 * Like `moveSameEntry`, but with calls that every system has. An entry that cannot have two names replaces
 * one that appears in that moment.
 */
export function moveSameInSteps(from: JailedPath, to: JailedPath): void {
  if (isLinked(from, to)) removeOldName(from, to);
  else {
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw errnoError("EEXIST");
    renameSync(from, to);
  }
}

/**
 * Gives the same file a second name. Returns false if that is impossible: for a folder, and on some systems
 * for a link.
 */
export function isLinked(from: JailedPath, to: JailedPath): boolean {
  const stats = lstatSync(from);
  if (!stats.isFile() && !(stats.isSymbolicLink() && process.platform === "linux")) return false;
  try {
    linkSync(from, to);
    return true;
  } catch (error) {
    if (withoutHardLinks.has(errnoOf(error))) return false;
    throw error;
  }
}

/** Like `moveToNew`, but with calls that every system has, each of which fails if the name is taken. */
export function moveInSteps(from: JailedPath, to: JailedPath): void {
  const stats = lstatSync(from);
  if (stats.isDirectory()) moveFolder(from, to);
  else if (stats.isSymbolicLink()) moveLink(from, to);
  else moveFile(from, to);
}

function moveFile(from: JailedPath, to: JailedPath): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (!withoutHardLinks.has(errnoOf(error))) throw error;
    moveByReservation(from, to);
    return;
  }
  removeOldName(from, to);
}

/**
 * Moves a link. A second name of a link may become one of its target (link(2) on macOS), so it is made again.
 */
function moveLink(from: JailedPath, to: JailedPath): void {
  symlinkSync(readlinkSync(from, "buffer"), to);
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

/** Moves a folder. It replaces an empty one, which is created for that. */
function moveFolder(from: JailedPath, to: JailedPath): void {
  mkdirSync(to, 0o700);
  try {
    renameSync(from, to);
  } catch (error) {
    rmdirSync(to);
    throw error;
  }
}

function removeOldName(from: JailedPath, to: JailedPath): void {
  // The name may belong to a different file that another program put there.
  if (lstatSync(from, { bigint: true }).ino !== lstatSync(to, { bigint: true }).ino) return;
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

/** The errors of link(2) on file systems without hard links. */
const withoutHardLinks: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** Like `moveInSteps`, but without hard links. The name exists empty for a moment, but never half written. */
export function moveByReservation(from: JailedPath, to: JailedPath): void {
  closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  try {
    renameSync(from, to);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}
