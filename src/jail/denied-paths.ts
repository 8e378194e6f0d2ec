/** Finds the denied files and folders that exist, for rules that know paths but no globs. */
import { type Dirent, readdirSync, statSync } from "node:fs";
import { join } from "node:path";
import { pathIn } from "./backend.ts";
import type { Jail } from "./folder.ts";

/** The state of a folder when it was last read. */
interface KnownFolder {
  /** The version, which changes whenever names in the folder do. */
  readonly version: string;
  readonly denied: readonly Dirent[];
  readonly folders: readonly string[];
}

/** Maximum files that stand for a denied folder. A folder with more stands for itself. */
const maxFiles = 256;

/**
 * Returns a function that finds the host paths of denied files below the roots of a jail, without following
 * links. It only rereads folders that have changed. Files of a denied folder are found one by one, because to git
 * a folder that is hidden as a whole looks as if its files were deleted.
 */
export function deniedFinder(
  jail: Pick<Jail, "roots" | "hasTop" | "deniesIn" | "isTemporary">,
): () => string[] {
  const known = new Map<string, KnownFolder>();

  function read(host: string, path: string): KnownFolder | undefined {
    const version = versionOf(host);
    if (version === undefined) return undefined;
    const last = known.get(host);
    if (last?.version === version) return last;
    const entries = list(host);
    const isDenied = ({ name }: Dirent) =>
      jail.deniesIn({ path, folding: "exact" }, name) && !jail.isTemporary(name);
    const folders = entries.filter((entry) => entry.isDirectory() && !isDenied(entry));
    const folder = { version, denied: entries.filter(isDenied), folders: folders.map(({ name }) => name) };
    known.set(host, folder);
    return folder;
  }

  function* visit(host: string, path: string): Generator<string> {
    const folder = read(host, path);
    if (folder === undefined) return;
    for (const entry of folder.denied) yield* filesOf(join(host, entry.name), entry);
    for (const name of folder.folders) yield* visit(join(host, name), pathIn(path, name));
  }

  return () => jail.roots.flatMap(({ name, hostPath }) => [...visit(hostPath, jail.hasTop ? name : "")]);
}

/** Returns the paths that stand for a denied entry: its own, or those of the files in it. */
function filesOf(path: string, entry: Dirent): string[] {
  if (!entry.isDirectory()) return [path];
  const files: string[] = [];
  const folders = [path];
  for (let folder = folders.pop(); folder !== undefined; folder = folders.pop()) {
    for (const below of list(folder)) (below.isDirectory() ? folders : files).push(join(folder, below.name));
    if (files.length > maxFiles || folders.length > maxFiles) return [path];
  }
  return files;
}

/** `undefined` for a folder that has gone. */
function versionOf(path: string): string | undefined {
  const stats = statSync(path, { bigint: true, throwIfNoEntry: false });
  return stats && `${stats.dev} ${stats.ino} ${stats.mtimeNs} ${stats.ctimeNs}`;
}

function list(path: string): Dirent[] {
  try {
    return readdirSync(path, { withFileTypes: true });
  } catch {
    return [];
  }
}
