/** Checks the two ends of a move or a copy before anything is changed. */
import type { Stats } from "node:fs";
import { Refusal, refuse } from "../../base/errors.ts";
import type { Folder, Jail, ResolvedPath } from "../jail/folder.ts";
import { refuseJailed } from "../jail/jail-errors.ts";
import { splitPath, validateNewPath } from "../jail/parse.ts";
import type { LinkOptions } from "./last-link.ts";
import { refuseMove, type Transfer } from "./move-errors.ts";
import { requireWritableFile } from "./require-writable.ts";
import type { Ends, Relation } from "./same-entry.ts";

/** The two sent paths, and whether a file at the second one may be replaced. */
export interface TwoPaths extends LinkOptions {
  readonly from: string;
  readonly to: string;
  readonly overwrite: boolean;
  /** Whether the journal has both paths, so that their names were there before. */
  readonly isRecorded?: boolean;
  /** Called before a file at `to` is replaced, or would be. */
  readonly onReplace?: () => void;
}

interface RelatedEnds extends Ends {
  readonly relation: Relation;
  readonly done: Transfer;
}

/**
 * Throws unless the source may come to the target. A new path must be one that may be created, even if it is
 * another spelling of an existing one.
 */
export function requireTarget(jail: Jail, paths: TwoPaths, related: RelatedEnds): void {
  const { source, target, relation, done } = related;
  const isFolder = source.stats!.isDirectory();
  const requireNewPath = paths.isRecorded ? () => {} : validateNewPath;
  if (source.stats!.isSymbolicLink() && jail.mayDenyWritingBelow(target))
    throw refuseJailed.protected(paths.to);
  if (relation === "respelled") {
    requireNewPath(paths.to, [target.sentName], false);
    return;
  }
  if (target.stats !== undefined) requireReplaceable(jail, paths, target.stats);
  else if (!isFolder) requireNewPath(paths.to, [], splitPath(paths.to).folderOnly);
  if (target.stats !== undefined && source.stats!.isSymbolicLink()) requireOtherThanEnd(jail, paths, related);
  if (!isFolder) return;
  if (target.stats !== undefined) throw refuseMove.folderOntoFile(paths.from, paths.to);
  if (jail.fold(target).startsWith(`${jail.fold(source)}/`)) throw refuseMove.intoItself(paths.from, done);
}

/**
 * Throws unless the target may be replaced. A link counts as a link only if it leads to a file: a caller who
 * names one to a folder may mean that folder.
 */
function requireReplaceable(jail: Jail, { to, overwrite }: TwoPaths, target: Stats): void {
  if (!overwrite) throw target.isDirectory() ? refuse.folderExists(to) : refuse.exists(to);
  using place = jail.admit(to, { changes: "tree" });
  if (place.stats?.isDirectory()) throw refuse.folderExists(to, overwrite);
  requireWritableFile(place);
}

/** Throws if a link would replace its own target: it would lead to itself, and the target would be lost. */
function requireOtherThanEnd(jail: Jail, { from, to }: TwoPaths, { target, done }: RelatedEnds): void {
  using end = endOf(jail, from);
  if (end !== undefined && jail.fold(end) === jail.fold(target)) throw refuseMove.ontoItsEnd(from, to, done);
}

/** Returns the place that a link leads to, or `undefined` if no call may reach it. */
function endOf(jail: Jail, path: string): ResolvedPath | undefined {
  try {
    return jail.admit(path);
  } catch (error) {
    if (error instanceof Refusal && error.reason !== "io") return undefined;
    throw error;
  }
}

/** The place of a folder, and the path that it, or a copy of it, is to have. */
export interface CopyEnds {
  readonly source: Pick<ResolvedPath, "folder" | "name" | "path">;
  readonly target: Pick<ResolvedPath, "folder" | "path">;
}

/**
 * Returns a jail that denies, in a folder at the source, also everything that is denied at the target. A copy
 * leaves the source unchanged, so for it only write protection at the target counts.
 */
export function jailAtBoth(jail: Jail, { source, target }: CopyEnds, operation: "copy" | "move"): Jail {
  const atTarget = (folder: Pick<Folder, "path">) => ({
    path: target.path + folder.path.slice(source.path.length),
    folding: target.folder.folding,
  });
  return {
    ...jail,
    deniesIn: (folder, name) => jail.deniesIn(folder, name) || jail.deniesIn(atTarget(folder), name),
    deniesWritingIn: (folder, name) =>
      (operation === "move" && jail.deniesWritingIn(folder, name)) ||
      jail.deniesWritingIn(atTarget(folder), name),
  };
}
