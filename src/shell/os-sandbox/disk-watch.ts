/** Ends commands that fill a file system. */
import { type StatsFs, statfs, statSync } from "node:fs";
import { promisify } from "node:util";

/** The limits of one command on each file system that it can write; 0 means no limit. */
export interface DiskLimits {
  readonly disk_bytes: number;
  /** Maximum number of inodes that a command may make. */
  readonly disk_files: number;
}

/** A running command whose use of the disk is watched. */
export interface Watched {
  /** Resolves when all processes of the command have ended. */
  readonly ended: Promise<void>;
  end(reason: string): void;
}

/** The free space of a file system. */
export interface Free {
  readonly bytes: number;
  /**
   * The number of files that can still be made; `undefined` if the file system does not count them (btrfs).
   */
  readonly files?: number | undefined;
  /** The number of existing files, if the file system counts them. */
  readonly filesUsed?: number | undefined;
}

/** Milliseconds between two measurements of the disk. */
const intervalMs = 100;

/** The part of the free space at its start that a command must leave. */
const partLeft = 0.1;

/** Measures the disk before a command starts. Returns a function that watches the started command. */
export type DiskWatch = () => (command: Watched) => void;

/**
 * Returns a watch that, every 100 ms until a command ends, reads the free space of the file systems of
 * `folders` (statfs(2)). If more than `limits` was taken since the start of a command, by any program, it
 * ends that command.
 */
export function createDiskWatch(folders: readonly string[], limits: DiskLimits): DiskWatch {
  // One folder for each file system, the shortest path: a command may remove a folder inside another.
  const byLength = folders.toSorted((a, b) => b.length - a.length);
  const places = [...new Map(byLength.map((folder) => [statSync(folder).dev, folder])).values()];
  const commands = new Map<Watched, readonly (Free | undefined)[]>();
  let isLooking = false;

  async function look(): Promise<void> {
    const now = await Promise.all(places.map(measure));
    for (const [command, atStart] of commands) {
      const reason = now.map((free, index) => excess(atStart[index], free, limits)).find(Boolean);
      if (reason !== undefined) command.end(reason);
    }
    isLooking = commands.size > 0;
    if (isLooking) setTimeout(look, intervalMs).unref();
  }

  async function follow(command: Watched, measuring: Promise<readonly (Free | undefined)[]>): Promise<void> {
    commands.set(command, await measuring);
    void command.ended.then(() => commands.delete(command));
    if (!isLooking) setTimeout(look, intervalMs).unref();
    isLooking = true;
  }

  if (limits.disk_bytes === 0 && limits.disk_files === 0) return () => () => {};
  return () => {
    const measuring = Promise.all(places.map(measure));
    return (command) => void follow(command, measuring);
  };
}

/** Returns the free space, or `undefined` if the file system does not answer. */
async function measure(folder: string): Promise<Free | undefined> {
  try {
    return readFree(await promisify(statfs)(folder), process.geteuid?.());
  } catch {
    return undefined;
  }
}

/** Returns the space that `user` may take. Some blocks are reserved for root. */
export function readFree(
  { bsize, bfree, bavail, files, ffree }: Omit<StatsFs, "type" | "blocks">,
  user: number | undefined,
): Free {
  const bytes = (user === 0 ? bfree : bavail) * bsize;
  return files === 0 ? { bytes } : { bytes, files: ffree, filesUsed: files - ffree };
}

/** Returns the reason why a command must end, as a text, or `undefined` if it may continue. */
export function excess(
  atStart: Free | undefined,
  now: Free | undefined,
  { disk_bytes, disk_files }: DiskLimits,
): string | undefined {
  if (atStart === undefined || now === undefined) return undefined;
  if (isExceeded(disk_bytes, atStart.bytes - now.bytes, atStart.bytes, now.bytes))
    return explain(`${now.bytes} bytes`, atStart.bytes, "disk_bytes");
  // Do not compare the room for files: if it is computed from the free space (XFS, ZFS), bytes take it too.
  const made = (now.filesUsed ?? 0) - (atStart.filesUsed ?? 0);
  if (isExceeded(disk_files, made, atStart.files, now.files))
    return explain(`room for ${now.files} files`, atStart.files, "disk_files");
  return undefined;
}

const isExceeded = (limit: number, taken: number, atStart = 0, now = 0) =>
  limit > 0 && (taken > limit || now < atStart * partLeft);

const explain = (left: string, atStart: number | undefined, key: keyof DiskLimits) =>
  `the file system has ${left} left, of ${atStart} when the command started, and limits.${key} allows no less; write less, or remove what it has written`;
