/** Protects files that callers may read and never change: those that determine the worker's configuration. */
import { type Stats, statSync } from "node:fs";
import { join, relative } from "node:path";
import { ancestorsOf } from "./backend.ts";
import type { ProtectedChange } from "./folder.ts";
import { LinkResolver, type ResolvedFile } from "./link-resolver.ts";

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
  const resolver = new LinkResolver();
  return protect(
    base,
    files.map((file) => resolver.resolve(file)!),
    files,
  );
}

/** Like `protectFiles`, for files as they are now. */
export const protectResolved = (base: string, files: readonly ResolvedFile[]): ProtectedFiles =>
  protect(
    base,
    files,
    files.map(({ path }) => path),
  );

/** `files`: host paths of the resolved files, for their stats at each change. */
function protect(base: string, resolved: readonly ResolvedFile[], files: readonly string[]): ProtectedFiles {
  const paths = [...new Set(resolved.flatMap(({ links, path }) => [...links, path]))]
    .map((location) => relative(base, location))
    .filter((path) => path !== "" && path !== ".." && !path.startsWith("../"));
  const is = (stats: Stats) => files.some((file) => isSame(stats, statsOf(file)));
  const isOnTheWay = (stats: Stats) =>
    [...new Set(paths.flatMap(ancestorsOf))].some((folder) => isSame(stats, statsOf(join(base, folder))));
  return {
    paths,
    is,
    holds(path, fold) {
      const own = fold(path);
      return paths.some((folder) => own.startsWith(`${fold(folder)}/`));
    },
    covers({ path, newFolders, stats }, change, fold) {
      if (files.length === 0) return false;
      const above = ancestorsOf(path);
      const changed = new Set([path, ...above.slice(above.length - newFolders.length)].map(fold));
      const own = `${fold(path)}/`;
      const kept = paths.map(fold);
      if (kept.some((name) => changed.has(name))) return true;
      if (change === "tree" && kept.some((name) => name.startsWith(own))) return true;
      if (stats === undefined) return false;
      return is(stats) || (change === "tree" && stats.isDirectory() && isOnTheWay(stats));
    },
  };
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
