/** What is denied, as it is on disk now. */
import { type BigIntStats, lstatSync, readdirSync, realpathSync, statSync } from "node:fs";
import { join } from "node:path";

export interface Denied {
  /** The canonical paths of denied entries. */
  readonly paths: ReadonlySet<string>;
  /** Those of them that are folders. */
  readonly folders: ReadonlySet<string>;
  /** The files there, and what else these are called. */
  readonly identities: ReadonlySet<string>;
  /** Changes when any of them is made, removed or replaced, or has another name than before. */
  readonly version: string;
}

/** The file that an entry is, whatever it is called. */
export const identityOf = ({ dev, ino }: BigIntStats): string => `${dev}:${ino}`;

/**
 * Reads what is at the denied paths. A denied file with several names is looked for below `roots`: there its
 * other names are denied too. Names that it has elsewhere, and names of files in denied folders, are not
 * looked for.
 */
export function readDenied(paths: readonly string[], roots: readonly string[]): Denied {
  const canonical = new Set(paths.flatMap((path) => tryRealpath(path) ?? []));
  const found = [...canonical].flatMap((path) => {
    const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
    return stats === undefined ? [] : [{ path, stats }];
  });
  const files = found.filter(({ stats }) => !stats.isDirectory());
  const identities = new Set(files.map(({ stats }) => identityOf(stats)));
  const isLinked = files.some(({ stats }) => stats.nlink > 1n);
  const others = isLinked ? roots.flatMap((root) => [...findNames(root, identities)]) : [];
  return {
    paths: new Set([...found.map(({ path }) => path), ...others]),
    folders: new Set(found.filter(({ stats }) => stats.isDirectory()).map(({ path }) => path)),
    identities,
    // A folder that is renamed gives all below it other names, and changes none of them.
    version: [
      ...found.map(({ path, stats }) => `${path} ${identityOf(stats)} ${stats.nlink} ${stats.ctimeNs}`),
      ...others,
    ].join("\n"),
  };
}

/**
 * Reads what is denied, again and again. What a denied link has led to once stays denied: a command may have
 * replaced the link.
 */
export function openDenied({ denied, findDenied = () => [], writable }: DeniedPolicy): () => Denied {
  const paths = new Set(denied);
  return () => {
    for (const path of [...denied, ...findDenied()]) paths.add(tryRealpath(path) ?? path);
    return readDenied([...paths], writable);
  };
}

interface DeniedPolicy {
  readonly denied: readonly string[];
  readonly findDenied?: (() => readonly string[]) | undefined;
  readonly writable: readonly string[];
}

function* findNames(folder: string, identities: ReadonlySet<string>): Generator<string> {
  for (const entry of tryList(folder)) {
    const path = join(folder, entry.name);
    if (entry.isDirectory()) yield* findNames(path, identities);
    else if (entry.isFile() && identities.has(tryIdentity(path) ?? "")) yield path;
  }
}

/** The entries of a folder; none where it cannot be read, and what cannot be read is not granted either. */
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
