/**
 * The walk from the base to where a path leads: one name at a time, each folder opened from the one before it, no link
 * ever followed by the system. Where it can, it takes the folders on the way in one step (see `resolveBeneath`), which fails if one
 * of them is a link. Links are read, and their text takes their place in the names still to go, so it meets
 * the same rules as what a caller sent. `..` is never opened: the name before it is struck out and the walk starts
 * again at the base, because a folder that was moved meanwhile has another parent than the one it was reached through.
 */
import { isUtf8 } from "node:buffer";
import { readlinkSync } from "node:fs";
import { refuse } from "../errors.ts";
import { type Backend, type HeldFolder, pathIn } from "./backend.ts";
import { errnoOf, refusalOfErrno } from "./errno.ts";
import type { AdmitOptions, PathHandle, ResolvedPath } from "./folder.ts";
import type { Folding } from "./folding.ts";
import { listedNames } from "./listed-name.ts";
import { type ParsedPath, splitPath } from "./parse.ts";
import { resolveBeneath } from "./resolve-beneath.ts";
import { WalkedPath } from "./walked-path.ts";

const maxLinks = 40;
const maxRestarts = 64;
const maxNames = 4096;

/** What a walk goes by. */
export interface WalkRules {
  readonly backend: Backend;
  /** Host paths under which a link with an absolute target may lie: the spellings of the base, each ending in "/". */
  readonly linkRoots: readonly string[];
  /** The base is the root of the host: its own parent, as everywhere on the host. */
  readonly isRoot: boolean;
  /** Throws a refusal for new names that callers may not give. */
  readonly requireNewNames: (asked: string, newNames: readonly string[], folderOnly: boolean) => void;
  /** True when this path itself is denied, in a folder with such names; the walk asks for every folder on the way. */
  denies(path: string, folding: Folding): boolean;
}

/**
 * Walks `parsed` from the base. `asked` is the path as it was sent, for error sentences. Throws a `Refusal` as
 * `Jail.admit` does.
 */
export function walk(
  rules: WalkRules,
  asked: string,
  parsed: ParsedPath,
  options: AdmitOptions,
): ResolvedPath {
  return new Walk(rules, asked, parsed, options).run();
}

class Walk {
  readonly #rules: WalkRules;
  readonly #asked: string;
  readonly #options: AdmitOptions;
  /** All names from the base on; those before `#index` are resolved and lead to `#folder`. */
  #names: string[];
  #index = 0;
  #folder: HeldFolder;
  /** Names before this index were put there by a link: they must exist, or the link dangles. */
  #linkEnd = 0;
  #folderOnly: boolean;
  #links = 0;
  #restarts = 0;

  constructor(rules: WalkRules, asked: string, parsed: ParsedPath, options: AdmitOptions) {
    this.#rules = rules;
    this.#asked = asked;
    this.#options = options;
    this.#names = [...parsed.names];
    this.#folderOnly = parsed.folderOnly;
    this.#folder = rules.backend.base(asked);
  }

  run(): ResolvedPath {
    try {
      this.#resolveBeneath();
      for (;;) {
        const place = this.#step();
        if (place !== undefined) return place;
      }
    } catch (error) {
      this.#folder.close();
      throw refusalOfErrno(error, this.#asked);
    }
  }

  /** Takes all names but the last at once, where that can be done. */
  #resolveBeneath(): void {
    const names = this.#names.slice(0, -1);
    const folder = resolveBeneath(this.#rules, names, (path) => this.#folder.openFolderBeneath?.(path));
    if (folder === undefined) return;
    this.#folder = folder;
    this.#index = names.length;
  }

  /** Takes one name. Returns the place when there is nothing more to take. */
  #step(): ResolvedPath | undefined {
    const name = this.#names[this.#index];
    if (name === undefined) return this.#arrive();
    if (name === "..") return this.#goBack(this.#index);
    // Asked before the disk is: the answer for a denied name must not depend on what is there.
    this.#requireAllowed(name);
    const own = this.#folder.folding === "foreign" ? this.#ownName(name) : name;
    return this.#index === this.#names.length - 1 ? this.#takeLast(own) : this.#descend(own);
  }

  #requireAllowed(name: string): void {
    const { path, folding } = this.#folder;
    if (this.#rules.denies(pathIn(path, name), folding)) throw refuse.absent(this.#asked, "denied");
  }

  /** The name under which the folder lists what it finds as `name`, which must not be denied either. */
  #ownName(name: string): string {
    const listed = listedNames(this.#folder, name);
    if (listed === undefined) return name;
    for (const own of listed) this.#requireAllowed(own);
    const [own] = listed;
    if (own === undefined) throw refuse.absent(this.#asked, "denied");
    this.#names[this.#index] = own;
    return own;
  }

  /** No name is left. Inside a folder, its own name is taken once more, now as the last one. */
  #arrive(): ResolvedPath | undefined {
    if (this.#index > 0) return this.#restart();
    if (this.#rules.backend.isBaseGone()) throw refuse.baseGone();
    return new WalkedPath(this.#folder, ".", { handle: this.#folder.openPath("."), newFolders: [] });
  }

  #descend(name: string): ResolvedPath | undefined {
    let child: HeldFolder;
    try {
      child = this.#folder.child(name);
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT") return this.#meetNothing();
      if (code === "ENOTDIR" || code === "ELOOP") return this.#followLink(name);
      throw error;
    }
    this.#folder.close();
    this.#folder = child;
    this.#index++;
    return undefined;
  }

  #takeLast(name: string): ResolvedPath | undefined {
    const handle = this.#openLast(name);
    if (handle === undefined) return this.#meetNothing();
    try {
      if (!handle.stats.isSymbolicLink()) {
        if (this.#folderOnly && !handle.stats.isDirectory()) throw refuse.absent(this.#asked, "missing");
        return this.#resolved(name, handle);
      }
      const { lastLink } = this.#options;
      if (lastLink === "stay") this.#verifyLink(name);
      if (lastLink === "stay" || lastLink === "bare") return this.#resolved(name, handle);
    } catch (error) {
      handle.close();
      throw error;
    }
    handle.close();
    return this.#followLink(name);
  }

  #openLast(name: string): PathHandle | undefined {
    try {
      return this.#folder.openPath(name);
    } catch (error) {
      if (errnoOf(error) === "ENOENT") return undefined;
      throw error;
    }
  }

  #resolved(name: string, handle: PathHandle): ResolvedPath {
    return new WalkedPath(this.#folder, name, { handle: handle, newFolders: [] });
  }

  /** Throws unless the link `name` leads to something inside that is not denied, and to a folder where one is meant. */
  #verifyLink(name: string): void {
    const names = [...this.#names.slice(0, this.#index), name];
    walk(this.#rules, this.#asked, { names, folderOnly: this.#folderOnly }, {})[Symbol.dispose]();
  }

  /** Puts the target of the link `name` in its place among the names. */
  #followLink(name: string): undefined {
    const target = this.#readLink(name);
    if (++this.#links > maxLinks) throw refuse.badLink(this.#asked);
    const isAbsolute = target.startsWith("/");
    const { names, folderOnly } = splitPath(isAbsolute ? this.#belowBase(target) : target);
    if (this.#index === this.#names.length - 1) this.#folderOnly ||= folderOnly;
    const before = isAbsolute ? [] : this.#names.slice(0, this.#index);
    const after = this.#names.slice(this.#index + 1);
    const ofLinks = Math.max(this.#linkEnd - (this.#index + 1), 0);
    this.#names = [...before, ...names, ...after];
    this.#linkEnd = before.length + names.length + ofLinks;
    if (this.#names.length > maxNames) throw refuse.badLink(this.#asked);
    if (isAbsolute) this.#restart();
  }

  #readLink(name: string): string {
    try {
      const target = this.#folder.enter((at) => readlinkSync(at(name), "buffer"));
      if (isUtf8(target)) return target.toString();
      // As text it would name another file.
      throw refuse.badLink(this.#asked);
    } catch (error) {
      if (errnoOf(error) !== "EINVAL") throw error;
      // Not a link but a file, and the path goes on below it.
      throw this.#index + 1 < this.#linkEnd
        ? refuse.badLink(this.#asked)
        : refuse.absent(this.#asked, "below-file");
    }
  }

  /** An absolute target without the base's own path. A wrong guess could not escape: it is walked from the base. */
  #belowBase(target: string): string {
    for (const root of this.#rules.linkRoots) {
      if (`${target}/`.startsWith(root)) return target.slice(root.length);
    }
    throw refuse.badLink(this.#asked);
  }

  /** Strikes out the `..` at `index` and the name before it. */
  #goBack(index: number): undefined {
    const isOfLink = index < this.#linkEnd;
    if (index === 0 && this.#rules.isRoot) {
      this.#names.shift();
      this.#linkEnd = Math.max(this.#linkEnd - 1, 0);
      return this.#restart();
    }
    if (index === 0) throw isOfLink ? refuse.badLink(this.#asked) : refuse.outside(this.#asked);
    if (++this.#restarts > maxRestarts) {
      throw isOfLink
        ? refuse.badLink(this.#asked)
        : refuse.malformedPath(this.#asked, `steps back with ".." more than ${maxRestarts} times`);
    }
    this.#names.splice(index - 1, 2);
    this.#linkEnd -= Math.min(Math.max(this.#linkEnd - (index - 1), 0), 2);
    return this.#restart();
  }

  #restart(): undefined {
    this.#folder.close();
    this.#folder = this.#rules.backend.base(this.#asked);
    this.#index = 0;
  }

  /** The next name is not there. */
  #meetNothing(): ResolvedPath | undefined {
    if (this.#rules.backend.isBaseGone()) throw refuse.baseGone();
    if (this.#index < this.#linkEnd) throw refuse.badLink(this.#asked);
    // What does not exist is no link either, so a `..` behind it means the folder that would hold it.
    const back = this.#names.indexOf("..", this.#index + 1);
    return back === -1 ? this.#placeOfNew() : this.#goBack(back);
  }

  #placeOfNew(): ResolvedPath {
    const newNames = this.#names.slice(this.#index);
    let path = this.#folder.path;
    for (const name of newNames) {
      path = pathIn(path, name);
      if (this.#rules.denies(path, this.#folder.folding)) throw refuse.absent(this.#asked, "denied");
    }
    const { mayBeMissing = false, parents = false } = this.#options;
    if (!mayBeMissing || (newNames.length > 1 && !parents)) throw refuse.absent(this.#asked, "missing");
    this.#rules.requireNewNames(this.#asked, newNames, this.#folderOnly);
    const newFolders = newNames.slice(0, -1);
    return new WalkedPath(this.#folder, newNames.at(-1)!, { handle: undefined, newFolders });
  }
}
