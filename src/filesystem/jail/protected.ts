/** Protects files that callers may read and never change: those that determine the worker's configuration. */
import { readlinkSync, type Stats, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { ancestorsOf } from "./backend.ts";
import type { ProtectedChange } from "./folder.ts";

/** The place of a change. Paths are relative to the base. */
export interface ChangedPlace {
  readonly path: string;
  /** Folders that the call creates for it. */
  readonly newFolders: readonly string[];
  readonly stats: Stats | undefined;
}

export interface ProtectedFiles {
  /** The paths, from the base, of the files in it and of the links on the way to them, existing or not. */
  readonly paths: readonly string[];
  /**
   * Returns whether the change would affect a protected file: by its name, in any spelling that `fold` treats
   * as the same, by a link or folder on the path to it, or by another name of the same file.
   */
  covers(place: ChangedPlace, change: ProtectedChange, fold: (path: string) => string): boolean;
  /** Returns whether the stats are those of a protected file, under any of its names. */
  is(stats: Stats): boolean;
  /** Returns whether the path is below a protected one, if that is or becomes a folder. */
  holds(path: string, fold: (path: string) => string): boolean;
}

/** Protects the host paths `files`, existing or not, in a jail around the canonical host path `base`. */
export function protectFiles(base: string, files: readonly string[]): ProtectedFiles {
  const paths = [...new Set(files.flatMap(locationsOf))]
    .map((location) => relative(base, location))
    .filter((path) => path !== "" && path !== ".." && !path.startsWith("../"));
  const is = (stats: Stats) => files.some((file) => isSame(stats, statsOf(file)));
  const isOnTheWay = (stats: Stats) =>
    paths.flatMap(ancestorsOf).some((folder) => isSame(stats, statsOf(join(base, folder))));
  return {
    paths,
    is,
    holds: (path, fold) => paths.some((folder) => fold(path).startsWith(`${fold(folder)}/`)),
    covers({ path, newFolders, stats }, change, fold) {
      if (files.length === 0) return false;
      const above = ancestorsOf(path);
      const changed = [path, ...above.slice(above.length - newFolders.length)].map(fold);
      const own = `${fold(path)}/`;
      const kept = paths.map(fold);
      if (kept.some((name) => changed.includes(name))) return true;
      if (change === "tree" && kept.some((name) => name.startsWith(own))) return true;
      if (stats === undefined) return false;
      return is(stats) || (change === "tree" && stats.isDirectory() && isOnTheWay(stats));
    },
  };
}

const maxLinks = 40;

/**
 * Returns the host paths of each link on the path to a file, and of the file itself, without links above the
 * last name.
 */
function locationsOf(file: string): string[] {
  const links: string[] = [];
  const names = file.split("/");
  let at = "/";
  for (let name = names.shift(); name !== undefined; name = names.shift()) {
    if (name === "..") at = dirname(at);
    if (name === "" || name === "." || name === "..") continue;
    const location = join(at, name);
    const target = links.length < maxLinks ? targetOf(location) : undefined;
    if (target === undefined) {
      at = location;
      continue;
    }
    links.push(location);
    names.unshift(...target.split("/"));
    if (target.startsWith("/")) at = "/";
  }
  return [...links, at];
}

function targetOf(location: string): string | undefined {
  try {
    return readlinkSync(location);
  } catch {
    return undefined;
  }
}

/** Returns the stats, or `undefined` if nothing is there. */
function statsOf(file: string): Stats | undefined {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

const isSame = (one: Stats, other: Stats | undefined): boolean =>
  one.ino === other?.ino && one.dev === other.dev;
