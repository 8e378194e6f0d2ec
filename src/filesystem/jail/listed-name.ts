import { runAtOnce, type Steps } from "../../base/scheduling/time-slice.ts";
import { errnoOf } from "./errno.ts";
import type { Folder, Name } from "./folder.ts";
import { nameOf } from "./name.ts";

/**
 * Returns the names under which the folder lists the entry that it finds as `name`: several for hard links to
 * one file, none if no listed entry matches. Returns `undefined` if it lists `name` itself, and if there is
 * no such entry. For file systems that find an entry under names of their own. Throws the errno error.
 */
export function listedNames(folder: Folder, name: string): string[] | undefined {
  if (isListed(folder, name)) return undefined;
  const found = identityOf(folder, name);
  if (found === undefined) return undefined;
  return namesIn(folder)
    .filter((listed) => identityOf(folder, listed) === found)
    .map(String);
}

/** Returns whether the folder lists this very name. Throws the errno error. */
export const isListed = (folder: Folder, text: string): boolean => runAtOnce(findListed(folder, text));

/** Returns what `isListed` does, with a step for each part of the listing. Throws the errno error. */
export function* findListed(folder: Folder, text: string): Steps<boolean> {
  const name = Buffer.from(text);
  let isThere = false;
  const entries = folder.list((bytes, from, to) => {
    isThere ||= to - from === name.length && bytes.compare(name, 0, name.length, from, to) === 0;
  });
  for (const _ of entries) {
    if (isThere) break;
    yield;
  }
  return isThere;
}

function namesIn(folder: Folder): Name[] {
  const names: Name[] = [];
  runAtOnce(folder.list((bytes, from, to) => names.push(nameOf(bytes.subarray(from, to)))));
  return names;
}

/** Returns the identity of an entry, or `undefined` if it does not exist. */
function identityOf(folder: Folder, name: Name): string | undefined {
  try {
    return folder.identify(name);
  } catch (error) {
    if (errnoOf(error) === "ENOENT") return undefined;
    throw error;
  }
}
