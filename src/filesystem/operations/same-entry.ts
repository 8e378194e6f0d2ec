import { lstatSync, type Stats } from "node:fs";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, JailedPath, ResolvedPath } from "../jail/folder.ts";
import { findListed } from "../jail/listed-name.ts";

/** The source and the target of an entry. */
export interface Ends {
  readonly source: ResolvedPath;
  readonly target: ResolvedPath;
}

/**
 * The relation of two ends: two entries (`apart`), two entries of one file (`linked`), or one entry, which
 * has the new name already (`same`) or in another spelling (`respelled`).
 */
export type Relation = "apart" | "linked" | "same" | "respelled";

/** Returns the relation of two ends. Throws the errno error. */
export function* relationOf({ source, target }: Ends): Steps<Relation> {
  if (source.path === target.path)
    return [source.sentName, target.name].includes(target.sentName) ? "same" : "respelled";
  if (!isSameFile(source, target)) return "apart";
  if (!isSameFolder(source.folder, target.folder))
    return source.stats?.isDirectory() || source.stats?.nlink === 1 ? "apart" : "linked";
  if (source.name === target.name) return "same";
  if (!(yield* findListed(target.folder, target.name))) return "respelled";
  return (yield* findListed(source.folder, source.name)) ? "linked" : "same";
}

/** Throws ESTALE unless the entry at `path` is the one that had these stats, and the errno error. */
export function requireStill(path: JailedPath, { dev, ino }: Stats): void {
  const now = lstatSync(path);
  if (now.dev !== dev || now.ino !== ino) throw errnoError("ESTALE");
}

function isSameFile(one: ResolvedPath, other: ResolvedPath): boolean {
  if (one.stats === undefined || one.stats.ino !== other.stats?.ino) return false;
  return one.folder.identify(one.name) === other.folder.identify(other.name);
}

const isSameFolder = (one: Folder, other: Folder): boolean =>
  one.path === other.path || one.identify(".") === other.identify(".");
