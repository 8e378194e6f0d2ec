import { lstatSync } from "node:fs";
import type { EntryVersion } from "../disk/steps.ts";
import { namesOf } from "../jail/backend.ts";
import type { Folder, Jail, Name, PathHandle } from "../jail/folder.ts";
import { openBelow } from "../jail/open-below.ts";

/**
 * The current disk, by canonical paths: relative to the base, without links. It takes only paths that were
 * read from the disk itself, so it applies no rules and throws errno errors. Paths of a record, which another
 * program may have written, are those of `holdFolderAt`.
 */
export class DiskView {
  readonly #jail: Jail;

  constructor(jail: Jail) {
    this.#jail = jail;
  }

  /** Returns the folder at `path`. Throws the errno error, including for a link that is now on the way. */
  folder(path: string): Folder {
    return this.folderInOneStep(path) ?? openBelow(this.#jail.reopenFolder(""), namesOf(path));
  }

  /** Returns the folder at any path if one step opens it, which no link can be on the way of. */
  folderInOneStep(path: string): Folder | undefined {
    const base = this.#jail.reopenFolder("");
    return path === "" ? base : base.openFolderBeneath?.(path);
  }

  /** Calls `act` with the folder of the entry at `path`, and its name. Throws the errno error. */
  at<T>(path: string, act: (folder: Folder, name: string) => T): T {
    const names = namesOf(path);
    const name = names.pop() ?? ".";
    using folder = this.folder(names.join("/"));
    return act(folder, name);
  }

  openPath(path: string): PathHandle {
    return this.at(path, (folder, name) => folder.openPath(name));
  }

  version(path: string): EntryVersion {
    return this.at(path, versionIn);
  }
}

/** Returns the current version of `name` in a folder on disk. Throws the errno error. */
export function versionIn(folder: Folder, name: Name): EntryVersion {
  if (folder.isTop) {
    using root = folder.child(name);
    return versionIn(root, ".");
  }
  const { dev, ino, size, mtimeNs, ctimeNs } = folder.enter((at) => lstatSync(at(name), { bigint: true }));
  return { dev, ino, size, mtimeNs, ctimeNs };
}
