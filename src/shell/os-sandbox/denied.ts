/** Finds the denied entries that are currently on the disk. */
import { type BigIntStats, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";
import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";

export interface Denied {
  /** The canonical paths of denied entries. */
  readonly paths: ReadonlySet<string>;
  /** The canonical paths of denied folders. */
  readonly folders: ReadonlySet<string>;
  /** The identities of denied files, which other names of the same files share. */
  readonly identities: ReadonlySet<string>;
  /** A value that changes when a denied entry is created, removed, replaced or renamed. */
  readonly version: string;
}

/** Returns the identity of a file, which all its names share. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/**
 * Reads the entries at the denied paths. If a denied file has several names, those below `roots` are found
 * and denied too. Other names of it are not searched, and neither are names of files in denied folders.
 */
export const readDenied = (paths: readonly string[], roots: readonly string[]): Denied =>
  runAtOnce(readInSteps(paths, roots));

function* readInSteps(paths: readonly string[], roots: readonly string[]): Steps<Denied> {
  const canonical = new Set(paths.flatMap((path) => tryRealpath(path) ?? []));
  const found = [...canonical].flatMap((path) => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, stats }];
  });
  const files = found.filter(({ stats }) => !stats.isDirectory());
  const identities = new Set(files.map(({ stats }) => identityOf(stats)));
  const isLinked = files.some(({ stats }) => stats.nlink > 1n);
  const others: string[] = [];
  if (isLinked) for (const root of roots) yield* findNames(root, identities, others);
  return {
    paths: new Set([...found.map(({ path }) => path), ...others]),
    folders: new Set(found.filter(({ stats }) => stats.isDirectory()).map(({ path }) => path)),
    identities,
    // Renaming a folder changes the paths of all entries below it, but none of the entries.
    version: [
      ...found.map(({ path, stats }) => `${path} ${identityOf(stats)} ${stats.nlink} ${stats.ctimeNs}`),
      ...others,
    ].join("\n"),
  };
}

/**
 * Returns a function that reads the denied entries whenever called. The target of a denied link stays denied
 * after the link is gone, since a command may have replaced the link.
 */
export function openDenied({ denied, findDenied = () => [], writable }: DeniedPolicy): () => Steps<Denied> {
  const paths = new Set(denied);
  return () => {
    for (const path of [...denied, ...findDenied()]) paths.add(tryRealpath(path) ?? path);
    return readInSteps([...paths], writable);
  };
}

interface DeniedPolicy {
  readonly denied: readonly string[];
  readonly findDenied?: (() => readonly string[]) | undefined;
  readonly writable: readonly string[];
}

/** Adds the paths of the files with these identities to `names`. */
function* findNames(folder: string, identities: ReadonlySet<string>, names: string[]): Steps<void> {
  for (const entry of tryList(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* findNames(path, identities, names);
    else if (entry.isFile() && identities.has(tryIdentity(path) ?? "")) names.push(path);
    yield;
  }
}

/** Returns the entries of a folder. A folder that cannot be read has none, so nothing in it is granted. */
export function tryList(folder: string) {
  try {
    return readdirSync(folder, { withFileTypes: true });
  } catch {
    return [];
  }
}

function tryIdentity(path: string): string | undefined {
  try {
    return identityOf(lstatSync(path, { bigint: true }));
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
