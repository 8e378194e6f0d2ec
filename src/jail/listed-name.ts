import { runAtOnce } from "../scheduling/time-slice.ts";
import { errnoOf } from "./errno.ts";
import type { Folder, Name } from "./folder.ts";
import { nameOf } from "./name.ts";

/**
 * The names under which the folder lists what is found in it as `name`: more than one where links to a file are hard,
 * none where they cannot be found. Undefined when it lists that very name, and when nothing is found. For file systems
 * that find an entry under names of their own making. Throws the errno error.
 */
export function listedNames(folder: Folder, name: string): string[] | undefined {
  if (isListed(folder, Buffer.from(name))) return undefined;
  const found = identityOf(folder, name);
  if (found === undefined) return undefined;
  return namesIn(folder)
    .filter((listed) => identityOf(folder, listed) === found)
    .map(String);
}

function isListed(folder: Folder, name: Buffer): boolean {
  let isThere = false;
  const entries = folder.list((bytes, from, to) => {
    isThere ||= to - from === name.length && bytes.compare(name, 0, name.length, from, to) === 0;
  });
  runAtOnce(entries);
  return isThere;
}

function namesIn(folder: Folder): Name[] {
  const names: Name[] = [];
  runAtOnce(folder.list((bytes, from, to) => names.push(nameOf(bytes.subarray(from, to)))));
  return names;
}

/** Undefined when nothing is there. */
function identityOf(folder: Folder, name: Name): string | undefined {
  try {
    const { dev, ino } = folder.lstat(name);
    return `${dev}:${ino}`;
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
