import { namesOf } from "../jail/backend.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, Jail } from "../jail/folder.ts";
import { openBelow } from "../jail/open-below.ts";

/**
 * Holds the folder at a canonical path, even if it or a folder above it has a temporary name. The caller
 * closes it. Throws ESTALE if a link now leads there, the jail's errors, and the errno error.
 */
export function holdFolderAt(jail: Jail, path: string): Folder {
  const names = namesOf(path);
  const firstHidden = names.findIndex((name) => jail.isTemporary(name));
  const hidden = firstHidden === -1 ? [] : names.splice(firstHidden);
  const visible = names.join("/");
  const folder = jail.admitFolder(visible === "" ? "." : visible);
  if (folder.path === visible) return openBelow(folder, hidden);
  folder.close();
  throw errnoError("ESTALE");
}

/** Splits a canonical path into its folder and its last name. */
export function splitLast(path: string): { readonly outer: string; readonly name: string } {
  const slash = path.lastIndexOf("/");
  return { outer: slash === -1 ? "" : path.slice(0, slash), name: path.slice(slash + 1) };
}

/** Calls `act` with the folder of a canonical path held. */
export function withFolderOf<T>(
  jail: Jail,
  path: string,
  act: (held: { readonly folder: Folder; readonly name: string }) => T,
): T {
  const { outer, name } = splitLast(path);
  using folder = holdFolderAt(jail, outer);
  return act({ folder, name });
}
