/** Recognizes entries, and notices changes that others have made to them. */
import { type BigIntStats, lstatSync } from "node:fs";
import type { VerifyEntry } from "../disk/scope.ts";
import type { EntryVersion } from "../disk/steps.ts";
import { quickRevisionAt } from "../files/revision.ts";
import { errnoError } from "../jail/errno.ts";
import type { JailedPath } from "../jail/folder.ts";
import { inodeOf } from "../jail/inode.ts";
import type { RecordedEntry } from "./record.ts";

/** Returns the current record that identifies an entry. */
export const recordOf = (stats: BigIntStats, revision?: string): RecordedEntry => ({
  kind: kindOfExact(stats),
  dev: `${stats.dev}`,
  ino: `${stats.ino}`,
  size: `${stats.size}`,
  mtime: `${stats.mtimeNs}`,
  ctime: `${stats.ctimeNs}`,
  revision,
});

function kindOfExact(stats: BigIntStats): RecordedEntry["kind"] {
  if (stats.isFile()) return "file";
  if (stats.isDirectory()) return "dir";
  return stats.isSymbolicLink() ? "symlink" : "other";
}

/** Returns whether it is the recorded entry, whatever its state. */
export const isSame = (stats: BigIntStats | undefined, entry: RecordedEntry): boolean =>
  stats !== undefined && inodeOf(stats) === inodeOf(entry);

/** Returns the stats of an entry, or `undefined` if the name is free. */
export const statsAt = (path: JailedPath): BigIntStats | undefined =>
  lstatSync(path, { bigint: true, throwIfNoEntry: false });

/** Throws ESTALE for another entry. */
export const verifySame =
  (entry: RecordedEntry): VerifyEntry =>
  (path) => {
    if (!isSame(statsAt(path), entry)) throw errnoError("ESTALE");
  };

/** Throws ESTALE for another entry, and for a file or link that differs from the staged one. */
export const verifyUnchanged =
  (entry: RecordedEntry): VerifyEntry =>
  (path) => {
    if (!isUnchanged(path, entry)) throw errnoError("ESTALE");
  };

export function isUnchanged(path: JailedPath, entry: RecordedEntry): boolean {
  const stats = statsAt(path);
  if (!isSame(stats, entry)) return false;
  if (entry.kind === "dir") return true;
  if (`${stats!.size}` !== entry.size || `${stats!.mtimeNs}` !== entry.mtime) return false;
  return hasRevision(path, entry);
}

interface ExpectedEntry {
  readonly version: EntryVersion;
  /** Whether an earlier step has renamed the entry or set its mode. */
  readonly isTouched: boolean;
}

/**
 * Throws ESTALE for an entry that differs from its planned version. For a folder only its identity counts,
 * because its contents change during the transaction.
 */
export const verifyExpected =
  ({ version, isTouched }: ExpectedEntry): VerifyEntry =>
  (path, { isRenamed }) => {
    const stats = statsAt(path);
    if (stats === undefined || inodeOf(stats) !== inodeOf(version)) throw errnoError("ESTALE");
    if (stats.isDirectory()) return;
    const isAsItWas =
      stats.size === version.size &&
      stats.mtimeNs === version.mtimeNs &&
      (isRenamed || isTouched || stats.ctimeNs === version.ctimeNs);
    if (!isAsItWas) throw errnoError("ESTALE");
    // After the rename, no other program can replace it any longer.
    if (isRenamed && !hasRevision(path, version)) throw errnoError("ESTALE");
  };

/**
 * Returns whether a file has the revision, if one is known. A file that is too large to hash at once is
 * recognized by its size and time alone.
 */
function hasRevision(path: JailedPath, { revision }: { readonly revision?: string | undefined }): boolean {
  const found = revision === undefined ? undefined : quickRevisionAt(path);
  return found === undefined || found === revision;
}
