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
import { refuse } from "../errors.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { JailedPath } from "../jail/folder.ts";
import { renameExclusively } from "../jail/renameat2.ts";

/**
 * Gives what is at `from` the new name `to`, unless something has it, which rename(2) would replace: throws exists for
 * `requested` then, and otherwise the errno error.
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
 * The same for what must stay the same file: a step of a transaction, which is recognised by its inode. A file has both
 * names for a moment where it takes two calls. Throws the errno error, EEXIST where something has the name.
 */
export function moveSameEntry(from: JailedPath, to: JailedPath): void {
  if (!renameExclusively(from, to)) moveSameInSteps(from, to);
}

/** The same by calls that every system has. What cannot have two names replaces what gets the name in that moment. */
export function moveSameInSteps(from: JailedPath, to: JailedPath): void {
  if (isLinked(from, to)) removeOldName(from, to);
  else {
    if (lstatSync(to, { throwIfNoEntry: false }) !== undefined) throw errnoError("EEXIST");
    renameSync(from, to);
  }
}

/** Gives the same file a second name. False where that is impossible: for a folder, and on some systems for a link. */
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

/** The same by calls that every system has, each of which fails where something has the name. */
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

/** A second name of a link may be one of the file that it leads to (link(2) on macOS). */
function moveLink(from: JailedPath, to: JailedPath): void {
  symlinkSync(readlinkSync(from, "buffer"), to);
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

/** A folder replaces an empty one, and so one that is made for that. */
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
  // Unless someone has put another file there.
  if (lstatSync(from, { bigint: true }).ino !== lstatSync(to, { bigint: true }).ino) return;
  try {
    unlinkSync(from);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}

/** What link(2) says on file systems that have no hard links. */
const withoutHardLinks: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** The same without hard links. The name is there empty for a moment, but never half written. */
export function moveByReservation(from: JailedPath, to: JailedPath): void {
  closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  try {
    renameSync(from, to);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}
