/** Ends commands that fill a file system. */
import { type StatsFs, statfs, statSync } from "node:fs";
import { promisify } from "node:util";
import { deadlineIn, unlessOver } from "../../base/scheduling/deadline.ts";

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
/** Maximum milliseconds of a measurement. A remote file system may never answer. */
const maxMeasuringMs = 1000;

/** The part of the free space at its start that a command must leave. */
const partLeft = 0.1;

/** Measures the disk before a command starts. Resolves to a function that watches the started command. */
export type DiskWatch = () => Promise<(command: Watched) => void>;

/**
 * Returns a watch that, every 100 ms until a command ends, reads the free space of the file systems of
 * `folders` (statfs(2)). If more than `limits` was taken since the start of a command, by any program, it
 * ends that command.
 */
export function createDiskWatch(
  folders: readonly string[],
  limits: DiskLimits,
  readStatistics: ReadStatistics = promisify(statfs),
): DiskWatch {
  // One folder for each file system, the shortest path: a command may remove a folder inside another.
  const byLength = folders.toSorted((a, b) => b.length - a.length);
  const onePerDevice = new Map(byLength.map((folder) => [statSync(folder).dev, folder]));
  const places = [...onePerDevice.values()].map((folder) => new MeasuredPlace(() => readStatistics(folder)));
  const commands = new Map<Watched, readonly (Free | undefined)[]>();
  const measureAll = () => Promise.all(places.map((place) => place.measure()));
  let isLooking = false;

  async function look(): Promise<void> {
    const now = await measureAll();
    for (const [command, atStart] of commands) {
      const reason = now.map((free, index) => excess(atStart[index], free, limits)).find(Boolean);
      if (reason !== undefined) command.end(reason);
      // A place that did not answer before the start is compared with its first answer.
      commands.set(
        command,
        atStart.map((free, index) => free ?? now[index]),
      );
    }
    isLooking = commands.size > 0;
    if (isLooking) setTimeout(look, intervalMs).unref();
  }

  if (limits.disk_bytes === 0 && limits.disk_files === 0) return async () => () => {};
  return async () => {
    const atStart = await measureAll();
    return (command) => {
      commands.set(command, atStart);
      void command.ended.then(() => commands.delete(command));
      if (!isLooking) setTimeout(look, intervalMs).unref();
      isLooking = true;
    };
  };
}

/** Reads the statistics of the file system of a folder, like statfs(2). */
type ReadStatistics = (folder: string) => Promise<StatsFs>;

/** A file system that is measured, once at a time. */
class MeasuredPlace {
  readonly #read: () => Promise<StatsFs>;
  #reading: Promise<Free | undefined> | undefined;

  constructor(read: () => Promise<StatsFs>) {
    this.#read = read;
  }

  /** Resolves to the free space, or to `undefined` if the file system does not answer, or not in time. */
  async measure(): Promise<Free | undefined> {
    this.#reading ??= this.#readFree().finally(() => {
      this.#reading = undefined;
    });
    const patience = deadlineIn(maxMeasuringMs);
    const free = await unlessOver(this.#reading, patience);
    patience.end();
    return free;
  }

  async #readFree(): Promise<Free | undefined> {
    try {
      return readFree(await this.#read(), process.geteuid?.());
    } catch {
      return undefined;
    }
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
