/**
 * The file of a client: read whole, and replaced whole, so that the client never reads half of one. It may
 * be a link into a folder of dotfiles, which stays one.
 */
import {
  chmodSync,
  chownSync,
  copyFileSync,
  mkdirSync,
  readFileSync,
  realpathSync,
  renameSync,
  rmSync,
  type Stats,
  statSync,
  writeFileSync,
} from "node:fs";
import { basename, dirname, join } from "node:path";
import { Unchangeable } from "./syntax.ts";

/** The suffix of the copy of a file before the newest change. */
const backupSuffix = ".coder-backup";

/**
 * Returns the text of a file, or undefined if it does not exist. Throws an `Unchangeable` if it is not
 * UTF-8.
 */
export function readConfigText(path: string): string | undefined {
  const bytes = readIfThere(path);
  if (bytes === undefined) return undefined;
  const text = bytes.toString("utf8");
  if (!bytes.equals(Buffer.from(text))) throw new Unchangeable("it is not UTF-8");
  return text;
}

function readIfThere(path: string): Buffer | undefined {
  try {
    return readFileSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "ENOENT") return undefined;
    throw error;
  }
}

/**
 * Replaces the text of a file, and creates it with its folders if `before` is undefined. Returns the path of
 * the backup of a replaced file. Throws `Unchangeable` if the file has changed since it was read.
 */
export function replaceConfigText(
  path: string,
  before: string | undefined,
  after: string,
): string | undefined {
  mkdirSync(dirname(path), { recursive: true });
  const file = before === undefined ? path : realpathSync(path);
  const stats = before === undefined ? undefined : statSync(file);
  const backup = before === undefined ? undefined : `${file}${backupSuffix}`;
  if (backup !== undefined) {
    rmSync(backup, { force: true });
    copyFileSync(file, backup);
    if (stats !== undefined) keepOwner(backup, stats);
  }
  const temporary = join(dirname(file), `.${basename(file)}.${process.pid}`);
  try {
    writeFileSync(temporary, after, { flag: "wx", mode: stats === undefined ? 0o644 : stats.mode & 0o777 });
    keepOwner(temporary, stats ?? statSync(dirname(file)), stats?.mode);
    if (readConfigText(path) !== before)
      throw new Unchangeable("another program changed it at this moment; run the command again");
    renameSync(temporary, file);
  } finally {
    rmSync(temporary, { force: true });
  }
  return backup;
}

/** Gives a file that root wrote to the owner of the file before, or of the folder. */
function keepOwner(path: string, { uid, gid }: Stats, mode?: number): void {
  if (process.getuid?.() === 0) chownSync(path, uid, gid);
  if (mode !== undefined) chmodSync(path, mode & 0o777);
}
