/** Finds mounts in Linux's list (proc_pid_mountinfo(5)). */
import { lstatSync, readFileSync, readlinkSync } from "node:fs";
import { errnoOf } from "./errno.ts";
import type { Folder, ResolvedPath } from "./folder.ts";

/**
 * Returns whether something is mounted on `folder` or below it: a file system, or a file or folder from
 * elsewhere on the same one, which no device number shows. Returns `undefined` if the system has no list of
 * mounts. The result holds only for this moment: a privileged program may mount something right after.
 */
export function holdsMount(folder: Folder): boolean | undefined {
  const points = mountPoints();
  if (points === undefined) return undefined;
  const path = hostPathOf(folder);
  return points.some((point) => point === path || point.startsWith(`${path}/`));
}

/** A mount below a folder. */
export interface Mount {
  /** The path from that folder, one character per byte. */
  readonly path: string;
  readonly isFolder: boolean;
}

/** Returns the mounts below `folder`, not on it, or `undefined` if the system has no list of mounts. */
export function mountsBelow(folder: Folder): Mount[] | undefined {
  const points = mountPoints();
  if (points === undefined) return undefined;
  const path = hostPathOf(folder);
  const prefix = path === "/" ? path : `${path}/`;
  return points
    .filter((point) => point.startsWith(prefix) && point !== prefix)
    .map((point) => ({ path: point.slice(prefix.length), isFolder: isFolder(point) }));
}

/**
 * Returns whether something is mounted at a name in a folder. Returns false if the folder is gone, or the
 * system has no list of mounts.
 */
export function isMountPoint({ folder, name }: Pick<ResolvedPath, "folder" | "name">): boolean {
  const path = Buffer.from(name).toString("latin1");
  try {
    return mountsBelow(folder)?.some((mount) => mount.path === path) ?? false;
  } catch (error) {
    if (errnoOf(error) === undefined) throw error;
    return false;
  }
}

/** Returns whether a path leads to a folder, also false if it cannot be reached. */
function isFolder(path: string): boolean {
  try {
    return lstatSync(Buffer.from(path, "latin1")).isDirectory();
  } catch {
    return false;
  }
}

/**
 * Returns the mount points, one character per byte, since names need not be UTF-8, or `undefined` without
 * procfs.
 */
function mountPoints(): string[] | undefined {
  try {
    return parseMountPoints(readFileSync("/proc/self/mountinfo", "latin1"));
  } catch {
    return undefined;
  }
}

/** Returns the mount points in the text of a mountinfo file. */
export const parseMountPoints = (mountinfo: string): string[] =>
  mountinfo.split("\n").flatMap((line) => {
    const point = line.split(" ")[4];
    return point === undefined ? [] : [unescapeOctal(point)];
  });

/** Decodes the octal escapes of blanks, tabs, newlines and backslashes. */
const unescapeOctal = (text: string): string =>
  text.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));

/** Returns the host path of a folder, for comparisons only: another folder may be there when it is used. */
function hostPathOf(folder: Folder): string {
  const { descriptor } = folder;
  if (descriptor === undefined) return Buffer.from(folder.enter(() => process.cwd())).toString("latin1");
  return readlinkSync(`/proc/self/fd/${descriptor}`, "latin1");
}
