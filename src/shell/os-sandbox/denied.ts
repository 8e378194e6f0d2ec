/** Finds the denied entries that are currently on the disk. */
import { createHash } from "node:crypto";
import { type BigIntStats, lstatSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { listInParts } from "./list-in-parts.ts";

export interface Denied {
  /** The canonical paths of denied entries. */
  readonly paths: ReadonlySet<string>;
  /** The canonical paths of denied folders. */
  readonly folders: ReadonlySet<string>;
  /** The identities of denied files, which other names of the same files share. */
  readonly identities: ReadonlySet<string>;
  /** The generations of denied entries. */
  readonly generations: ReadonlySet<string>;
  /** A value that changes when a denied entry is created, removed, replaced or renamed. */
  readonly version: string;
}

/** Returns the identity of a file, which all its names share. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/** Returns a value that no other entry ever has, even if it gets the number of one that is gone. */
export const generationOf = (stats: BigIntStats): string => `${identityOf(stats)} ${stats.birthtimeNs}`;

/**
 * Reads the entries at the denied paths. If a denied file has several names, those below `roots` are found
 * and denied too. Other names of it are not searched, and neither are names of files in denied folders.
 */
export const readDenied = (paths: readonly string[], roots: readonly string[]): Denied =>
  runAtOnce(readInSteps(paths, roots));

function* readInSteps(paths: readonly string[], roots: readonly string[]): Steps<Denied> {
  const found = new Set<string>();
  const folders = new Set<string>();
  const identities = new Set<string>();
  const generations = new Set<string>();
  // A digest, because one text of all paths would be long to join and to compare.
  const version = createHash("sha256");
  let isLinked = false;
  for (const named of paths) {
    const path = tryRealpath(named);
    const stats =
      path === undefined || found.has(path)
        ? undefined
        : statSync(path, { bigint: true, throwIfNoEntry: false });
    if (path !== undefined && stats !== undefined) {
      found.add(path);
      if (stats.isDirectory()) folders.add(path);
      else identities.add(identityOf(stats));
      generations.add(generationOf(stats));
      isLinked ||= !stats.isDirectory() && stats.nlink > 1n;
      // Renaming a folder changes the paths of all entries below it, but none of the entries.
      version.update(`${path} ${identityOf(stats)} ${stats.nlink} ${stats.ctimeNs}\n`);
    }
    yield;
  }
  const others: string[] = [];
  if (isLinked) for (const root of roots) yield* findNames(root, identities, others);
  for (const path of others) {
    found.add(path);
    version.update(`${path}\n`);
    yield;
  }
  return { paths: found, folders, identities, generations, version: version.digest("hex") };
}

/**
 * Returns a function that reads the denied entries whenever called. The target of a denied link stays denied
 * after the link is gone, since a command may have replaced the link.
 */
export function openDenied({ denied, findDenied = () => [], writable }: DeniedPolicy): () => Steps<Denied> {
  const paths = new Set(denied);
  return function* read() {
    for (const path of [...denied, ...findDenied()]) {
      paths.add(tryRealpath(path) ?? path);
      yield;
    }
    return yield* readInSteps([...paths], writable);
  };
}

interface DeniedPolicy {
  readonly denied: readonly string[];
  readonly findDenied?: (() => readonly string[]) | undefined;
  readonly writable: readonly string[];
}

/** Adds the paths of the files with these identities to `names`. */
function* findNames(root: string, identities: ReadonlySet<string>, names: string[]): Steps<void> {
  const folders = [root];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const part of listInParts(folder)) {
      for (const { name, kind } of part) {
        const path = join(folder, name);
        const stats = kind === "file" || kind === undefined ? tryLstat(path) : undefined;
        if (kind === "dir" || stats?.isDirectory()) folders.push(path);
        else if (stats?.isFile() && identities.has(identityOf(stats))) names.push(path);
        yield;
      }
      yield;
    }
  }
}

function tryLstat(path: string): BigIntStats | undefined {
  try {
    return lstatSync(path, { bigint: true });
  } catch {
    return undefined;
  }
}

function tryRealpath(path: string): string | undefined {
  try {
    return realpathSync.native(path);
  } catch {
    return undefined;
  }
}
