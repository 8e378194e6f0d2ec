import { closeSync, constants, linkSync, lstatSync, openSync, renameSync, unlinkSync } from "node:fs";
import { refuse } from "../errors.ts";
import { errnoOf } from "../jail/errno.ts";
import type { JailedPath } from "../jail/folder.ts";

/** Gives the file at `from` the new name `to`, unless something has it: rename(2) would replace that, link(2) does not. */
export function moveToNew(from: JailedPath, to: JailedPath, asked: string): void {
  try {
    linkSync(from, to);
  } catch (error) {
    if (errnoOf(error) === "EEXIST") throw refuse.exists(asked);
    if (!withoutHardLinks.has(errnoOf(error))) throw error;
    moveByReservation(from, to, asked);
    return;
  }
  // Unless someone has put another file there.
  if (lstatSync(from, { bigint: true }).ino === lstatSync(to, { bigint: true }).ino) unlinkSync(from);
}

/** What link(2) says on file systems that have no hard links. */
const withoutHardLinks: ReadonlySet<string | undefined> = new Set([
  "EPERM",
  "ENOTSUP",
  "EOPNOTSUPP",
  "ENOSYS",
]);

/** The same without hard links. The name is there empty for a moment, but never half written. */
export function moveByReservation(from: JailedPath, to: JailedPath, asked: string): void {
  try {
    closeSync(openSync(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, 0o600));
  } catch (error) {
    throw errnoOf(error) === "EEXIST" ? refuse.exists(asked) : error;
  }
  try {
    renameSync(from, to);
  } catch (error) {
    unlinkSync(to);
    throw error;
  }
}
