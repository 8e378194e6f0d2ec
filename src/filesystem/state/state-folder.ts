/**
 * The folder in which workers keep everything that has to outlive them: one for each root, shared by all
 * workers that serve it, private to the user, and never below a root. Files in the tree are never trusted;
 * files here are.
 */
import { createHash } from "node:crypto";
import { lstatSync, mkdirSync, readdirSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { basename, dirname, join, relative, resolve } from "node:path";
import { readStateDirectory } from "../../config/environment.ts";
import { ConfigError } from "../../config/file.ts";
import { belongsToOther, otherOwnerOf } from "../jail/other-owner.ts";
import { isStateFolderName, stateFolderName } from "../jail/state-name.ts";

export interface StateLocation {
  /** The host path of the folder that contains the state folders of all roots. It need not exist. */
  readonly dir: string;
  readonly roots: readonly ServedRoot[];
}

/** A folder that is served. */
export interface ServedRoot {
  /** The name among several; `.` for the only one. */
  readonly name: string;
  /** The canonical path on the host. */
  readonly hostPath: string;
}

export interface StateFolder {
  /** The host path of the folder, which may not exist yet. */
  readonly location: string;
  /**
   * Returns the host path of a file, creating the folders above it, which only this user may enter. Throws
   * the errno error, or a `ConfigError` if the folder is not private.
   */
  path(...names: string[]): string;
  /**
   * Returns the host path of something in it, for reading, or `undefined` if the folder does not exist.
   * Creates nothing.
   */
  find(...names: string[]): string | undefined;
}

/**
 * Locates the state folder of a root, and creates nothing yet. Throws a `ConfigError` if it would lie below
 * the root, or the root below `dir`, or if it belongs to another user or is open to others.
 */
export function openStateFolder({ dir, roots }: StateLocation): StateFolder {
  const outer = canonicalOf(resolve(dir));
  const location = join(outer, nameOf(roots));
  requireOutside(location, roots);
  for (const { hostPath } of roots)
    if (contains(outer, hostPath)) {
      const reason = "holds the folder that is served";
      throw new StateFolderError(outer, `${reason}, ${hostPath}`, reason);
    }
  requireKept(outer);
  requirePrivate(location);
  const known = new Set<string>();
  return {
    location,
    path(...names) {
      const path = join(location, ...names);
      const folder = dirname(path);
      // The user may have removed it since.
      if (!known.has(folder) || lstatIfThere(folder) === undefined) {
        makePrivate(location, folder);
        noteRoots(location, roots);
        // A link may have replaced a folder on the way since.
        requireOutside(realpathSync(location), roots);
        known.add(folder);
      }
      return path;
    },
    find(...names) {
      requirePrivate(location);
      return lstatIfThere(location) === undefined ? undefined : join(location, ...names);
    },
  };
}

/**
 * Locates a state folder in the temporary directory, private to this user, for data that need not outlive a
 * restart of the machine. Returns `undefined` if calls or another user could reach it.
 */
export function openTemporaryState(roots: readonly ServedRoot[]): StateFolder | undefined {
  const dir = temporaryDirectory();
  try {
    mkdirSync(dir, { mode: 0o700, recursive: true });
    requirePrivate(dir);
    return openStateFolder({ dir, roots });
  } catch {
    return undefined;
  }
}

const temporaryDirectory = (): string => join(tmpdir(), `coder-state-${process.getuid!()}`);

/** The file that lists the roots of a state folder, whose name does not contain their paths. */
const rootsFile = "roots.json";

/** Maximum state folders that are read, in one step of less than 50 ms. */
const maxRead = 1000;

/** Lists the roots in their state folder, for workers of other roots. */
function noteRoots(location: string, roots: readonly ServedRoot[]): void {
  try {
    writeFileSync(join(location, rootsFile), JSON.stringify(sortRoots(roots)), { flag: "wx", mode: 0o600 });
  } catch {
    // It is listed already, or this worker keeps its state all the same.
  }
}

/**
 * Returns the roots of every other state folder in `dir` that overlap with these roots: one of them lies in
 * one of these, or contains one. Leaves out folders that cannot be read, and those after the first thousand.
 */
export function findOverlappingRoots({ dir, roots }: StateLocation): (readonly ServedRoot[])[] {
  const own = nameOf(roots);
  const overlaps = ({ hostPath }: ServedRoot) =>
    roots.some((root) => contains(root.hostPath, hostPath) || contains(hostPath, root.hostPath));
  return listIfThere(dir)
    .filter((name) => isStateFolderName(name) && name !== own)
    .sort()
    .slice(0, maxRead)
    .map((name) => readRoots(join(dir, name)))
    .filter((others) => others.some(overlaps));
}

function listIfThere(dir: string): string[] {
  try {
    return readdirSync(dir);
  } catch {
    return [];
  }
}

/** Returns the roots that a state folder lists, or none if they are not those that its name stands for. */
function readRoots(location: string): readonly ServedRoot[] {
  try {
    requirePrivate(location);
    const listed: ServedRoot[] = JSON.parse(readFileSync(join(location, rootsFile), "utf8"));
    return nameOf(listed) === basename(location) ? listed : [];
  } catch {
    return [];
  }
}

/**
 * Returns the host paths of the folders that hold state folders of workers: `dir` of this one, if any, and
 * the default ones.
 */
export const stateDirectories = (dir: string | undefined, environment: NodeJS.ProcessEnv): string[] =>
  [dir, readStateDirectory(environment), temporaryDirectory()].flatMap((path) =>
    path === undefined ? [] : [resolve(path)],
  );

function makePrivate(location: string, folder: string): void {
  mkdirSync(dirname(location), { recursive: true, mode: 0o700 });
  mkdirSync(folder, { recursive: true, mode: 0o700 });
  requirePrivate(location);
}

/**
 * Returns the names of the roots, for people, and a digest of their whole paths, independent of the order in
 * which they are configured.
 */
function nameOf(roots: readonly ServedRoot[]): string {
  const sorted = sortRoots(roots);
  const isOnly = sorted[0]?.name === ".";
  const names = sorted.map(({ name, hostPath }) => (isOnly ? basename(hostPath) : name));
  const name = names.map((one) => one.replace(/[^A-Za-z0-9._-]/g, "_")).join("+");
  const identity = isOnly
    ? sorted[0]!.hostPath
    : JSON.stringify(sorted.map(({ name, hostPath }) => [name, hostPath]));
  const digest = createHash("sha256").update(identity).digest("hex");
  return stateFolderName(`${name.slice(0, 64) || "root"}-${digest.slice(0, 12)}`);
}

const sortRoots = (roots: readonly ServedRoot[]): ServedRoot[] =>
  roots
    .map(({ name, hostPath }) => ({ name, hostPath }))
    .sort((one, other) => (one.name < other.name ? -1 : 1));

/** Returns the path with all links resolved in the part that exists. */
function canonicalOf(path: string): string {
  try {
    return realpathSync(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== "ENOENT" || path === dirname(path))
      throw unreachable(path, error);
    return join(canonicalOf(dirname(path)), basename(path));
  }
}

function requireOutside(location: string, roots: readonly ServedRoot[]): void {
  for (const { hostPath } of roots)
    if (contains(hostPath, location))
      throw new StateFolderError(
        location,
        `lies in the folder that is served, ${hostPath}, where calls could reach it`,
        "would lie in the folder that is served, where calls could reach it",
      );
}

const contains = (outer: string, inner: string): boolean => {
  const path = relative(outer, inner);
  return path !== ".." && !path.startsWith("../");
};

function requirePrivate(location: string): void {
  const stats = lstatIfThere(location);
  if (stats === undefined) return;
  if (!stats.isDirectory()) throw new StateFolderError(location, "is no folder");
  if (stats.uid !== process.getuid!()) throw new StateFolderError(location, belongsToOther(stats.uid));
  if ((stats.mode & 0o077) !== 0)
    throw new StateFolderError(
      location,
      "is open to other users; give it the mode 0700",
      "is open to other users",
    );
}

/** Throws if another user could replace a folder in it. */
function requireKept(outer: string): void {
  const stats = lstatIfThere(outer);
  if (stats === undefined) return;
  if (stats.uid !== process.getuid!() && stats.uid !== 0)
    throw new StateFolderError(outer, belongsToOther(stats.uid));
  const isSticky = (stats.mode & 0o1000) !== 0;
  if (!isSticky && (stats.mode & 0o002) !== 0)
    throw new StateFolderError(
      outer,
      "lets every user replace what is in it; take that right from others",
      "lets every user replace what is in it",
    );
}

function lstatIfThere(path: string) {
  try {
    return lstatSync(path, { throwIfNoEntry: false });
  } catch (error) {
    throw unreachable(path, error);
  }
}

function unreachable(path: string, error: unknown): StateFolderError {
  const { code } = error as NodeJS.ErrnoException;
  const owner = code === "EACCES" ? otherOwnerOf(path) : undefined;
  const plain = `cannot be reached (${code})`;
  return new StateFolderError(path, owner === undefined ? plain : `${plain}: ${owner}`, plain);
}

/** Thrown for a folder that cannot keep state. */
export class StateFolderError extends ConfigError {
  override readonly name = "StateFolderError";
  /** The reason without a host path. */
  readonly reason: string;

  constructor(location: string, reason: string, plain = reason) {
    super(
      `the state folder ${location} ${reason}; name another folder with journal.dir in the configuration`,
    );
    this.reason = plain;
  }
}
