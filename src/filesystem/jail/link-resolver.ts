import { lstatSync, readlinkSync } from "node:fs";
import { dirname } from "node:path";

/** A host path, and what the links on it lead to. */
export interface ResolvedFile {
  /** The host paths of the links on the path, without links above their last names. */
  readonly links: readonly string[];
  /** The host path without links. Nothing need be there. */
  readonly path: string;
}

const maxLinks = 40;

/**
 * Resolves host paths, and reads each link once. The links on a path may together be 40 times as long as the
 * longest path, so that the system takes milliseconds for each look-up of it. A resolver follows no more than
 * a number of names in all, and the paths that it returns are quickly looked up.
 */
export class LinkResolver {
  readonly #resolved = new Map<string, ResolvedFile>();
  readonly #targets = new Map<string, string | undefined>();
  #namesLeft: number;

  /** `maxNames`: the maximum names of files and folders in all paths, and in the links on them. */
  constructor(maxNames = Number.POSITIVE_INFINITY) {
    this.#namesLeft = maxNames;
  }

  /** Whether it resolves no further path. */
  get isFull(): boolean {
    return this.#namesLeft <= 0;
  }

  /** Resolves an absolute path; `undefined` if its names are too many. */
  resolve(file: string): ResolvedFile | undefined {
    const known = this.#resolved.get(file);
    if (known !== undefined) return known;
    const resolved = this.#follow(file);
    if (resolved !== undefined) this.#resolved.set(file, resolved);
    return resolved;
  }

  #follow(file: string): ResolvedFile | undefined {
    const links: string[] = [];
    // The next name is the last one.
    const names: string[] = [];
    const hasAdded = (path: string) => {
      const added = path.split("/");
      this.#namesLeft -= added.length;
      for (let name = added.pop(); name !== undefined; name = added.pop()) names.push(name);
      return !this.isFull;
    };
    if (!hasAdded(file)) return undefined;
    let at = "/";
    for (let name = names.pop(); name !== undefined; name = names.pop()) {
      if (name === "..") at = dirname(at);
      if (name === "" || name === "." || name === "..") continue;
      const location = at === "/" ? `/${name}` : `${at}/${name}`;
      const target = links.length < maxLinks ? this.#targetOf(location) : undefined;
      if (target === undefined) {
        at = location;
        continue;
      }
      links.push(location);
      if (!hasAdded(target)) return undefined;
      if (target.startsWith("/")) at = "/";
    }
    return { links, path: at };
  }

  /** Returns the target of a link, or `undefined` if the location is not one. */
  #targetOf(location: string): string | undefined {
    if (this.#targets.has(location)) return this.#targets.get(location);
    const target = linkAt(location);
    this.#targets.set(location, target);
    return target;
  }
}

function linkAt(location: string): string | undefined {
  try {
    const stats = lstatSync(location, { throwIfNoEntry: false });
    return stats?.isSymbolicLink() ? readlinkSync(location) : undefined;
  } catch {
    return undefined;
  }
}
