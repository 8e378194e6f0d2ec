/**
 * Walks from the base along a path: one name at a time, opening each folder from the one before it; the
 * system never follows a link. If possible, it resolves the folders on the path in one step (see
 * `resolveBeneath`), which fails if one of them is a link, or on a long path those before the link or the
 * missing name. It reads links, and splices their text into the remaining names, so that the same rules apply
 * to it as to a path from a caller. It never opens `..`: it removes the name before it and continues in the
 * folder that it came from, which it has kept open, or starts again at the base, because a folder that was
 * moved in between has a different parent.
 */
import { isUtf8 } from "node:buffer";
import { refuse } from "../../base/errors.ts";
import { type Backend, type HeldFolder, pathIn } from "./backend.ts";
import { errnoOf, refusalOfErrno } from "./errno.ts";
import type { AdmitOptions, PathHandle, ResolvedPath } from "./folder.ts";
import { listedNames } from "./listed-name.ts";
import type { Folding } from "./name-comparison.ts";
import { type ParsedPath, splitPath } from "./parse.ts";
import { openFolderBeneath } from "./resolve-beneath.ts";
import type { PathScope } from "./scope.ts";
import { WalkedPath } from "./walked-path.ts";

const maxLinks = 40;
const maxRestarts = 64;
const maxNames = 4096;
/** Maximum names that take no longer one by one than finding out how many of them one step can resolve. */
const fewNames = 64;
/** Maximum folders that are created for one path: one step creates and records all of them. */
const maxNewFolders = 128;

/** The rules of a walk. */
export interface WalkRules {
  readonly backend: Backend;
  /**
   * Returns host paths under which the absolute target of a link at `path` may lie, each ending in "/": the
   * spellings of the base, or of the root that the link is in.
   */
  linkRoots(path: string): readonly string[];
  /**
   * The number of names from the top to the folder that no link leads out of: none to the base, one to a
   * root.
   */
  readonly rootDepth: number;
  /** Whether the base is the root of the host, which is its own parent. */
  readonly isRoot: boolean;
  /** Throws a refusal for names that callers may not create. */
  readonly requireNewNames: (requested: string, newNames: readonly string[], folderOnly: boolean) => void;
  /**
   * Returns whether this path itself is denied, in a folder with that folding. The walk queries it for every
   * folder on the path.
   */
  denies(path: string, folding: Folding): boolean;
  /** Documented at `DenyRules.deniesBelow`. */
  deniesBelow(names: readonly string[], folding: Folding): boolean;
  /** The part of the tree that the walk may reach; `undefined` means all of it. */
  readonly scope?: PathScope | undefined;
}

/**
 * Walks `parsed` from the base. `requested` is the path as the caller sent it, for error sentences. Throws a
 * `Refusal` like `Jail.admit` does.
 */
export function walk(
  rules: WalkRules,
  requested: string,
  parsed: ParsedPath,
  options: AdmitOptions,
): ResolvedPath {
  return new Walk(rules, requested, parsed, options).run();
}

class Walk {
  readonly #rules: WalkRules;
  readonly #requested: string;
  readonly #options: AdmitOptions;
  /** All names, starting at the base. The names before `#index` are resolved and lead to `#folder`. */
  #names: string[];
  #index = 0;
  #folder: HeldFolder;
  /** The nearest folders above `#folder`, which each `..` goes back to, if the path has any. */
  readonly #above: HeldFolder[] = [];
  #hasBack: boolean;
  /** The end of the names that come from a link. They must exist, or the link dangles. */
  #linkEnd = 0;
  #folderOnly: boolean;
  #links = 0;
  #restarts = 0;

  constructor(rules: WalkRules, requested: string, parsed: ParsedPath, options: AdmitOptions) {
    this.#rules = rules;
    this.#requested = requested;
    this.#options = options;
    this.#names = [...parsed.names];
    this.#folderOnly = parsed.folderOnly;
    this.#hasBack = parsed.names.includes("..");
    this.#folder = rules.backend.base(requested);
  }

  run(): ResolvedPath {
    this.#reportNames(this.#names, 0);
    try {
      this.#resolveBeneath();
      for (;;) {
        const place = this.#step();
        if (place !== undefined) return place;
      }
    } catch (error) {
      this.#folder.close();
      throw refusalOfErrno(error, this.#requested);
    } finally {
      this.#closeAbove();
    }
  }

  /** Resolves all names but the last at once, if possible, or nearly as many of them as one step can. */
  #resolveBeneath(): void {
    const base = this.#folder;
    const names = this.#namesBeneath();
    if (this.#rules.scope?.leadsInside(names.join("/")) === false) return;
    let [first, tooMany] = [names.length, names.length + 1];
    while (tooMany - this.#index > 1) {
      const folder = openFolderBeneath(this.#rules, base, names.slice(0, first));
      if (folder === undefined) tooMany = first;
      else {
        if (this.#folder !== base) this.#folder.close();
        this.#folder = folder;
        this.#index = first;
      }
      if (tooMany - this.#index <= fewNames) return;
      first = Math.floor((this.#index + tooMany) / 2);
    }
  }

  /** Returns the names that one step may resolve: those before the last that no `..` goes back to. */
  #namesBeneath(): string[] {
    const first = this.#names.indexOf("..");
    if (first === -1) return this.#names.slice(0, -1);
    const backs = this.#names.filter((name) => name === "..").length;
    return this.#names.slice(0, Math.max(0, first - backs));
  }

  /** Whether one step may resolve many more names. */
  get #isFar(): boolean {
    const isLong = this.#names.length - this.#index > fewNames;
    return isLong && this.#namesBeneath().length - this.#index > fewNames;
  }

  /** Resolves one name. Returns the place after the last one. */
  #step(): ResolvedPath | undefined {
    const name = this.#names[this.#index];
    if (name === undefined) return this.#arrive();
    if (name === "..") return this.#goBack(this.#index);
    // This comes before any access to the disk: the answer for a denied name must not depend on the disk.
    const isEnd = this.#index === this.#names.length - 1;
    this.#rules.scope?.require(this.#requested, pathIn(this.#folder.path, name), isEnd);
    if (this.#options.deniedIsMissing && this.#isDenied(name)) return this.#meetMissingName();
    this.#requireAllowed(name);
    const own = this.#folder.folding === "foreign" ? this.#ownName(name) : name;
    return isEnd ? this.#takeLast(own, name) : this.#descend(own);
  }

  #isDenied(name: string): boolean {
    return this.#rules.denies(pathIn(this.#folder.path, name), this.#folder.folding);
  }

  #requireAllowed(name: string): void {
    if (this.#isDenied(name)) throw refuse.absent(this.#requested, "denied");
  }

  /** Returns the name under which the folder lists the entry `name`. Throws if that name is denied. */
  #ownName(name: string): string {
    const listed = listedNames(this.#folder, name);
    if (listed === undefined) return name;
    for (const own of listed) this.#requireAllowed(own);
    const [own] = listed;
    if (own === undefined) throw refuse.absent(this.#requested, "denied");
    this.#names[this.#index] = own;
    return own;
  }

  /** Ends the walk. Inside a folder, it resolves its own name once more, now as the last one. */
  #arrive(): ResolvedPath | undefined {
    if (this.#index > 0) return this.#stepBack();
    this.#rules.scope?.require(this.#requested, "", true);
    this.#requireBase("");
    const handle = this.#folder.openPath(".");
    return new WalkedPath(this.#folder, ".", { handle, sentName: ".", newFolders: [] });
  }

  #descend(name: string): ResolvedPath | undefined {
    let child: HeldFolder;
    try {
      child = this.#folder.child(name);
    } catch (error) {
      const code = errnoOf(error);
      if (code === "ENOENT") return this.#meetMissingName();
      if (code === "ENOTDIR" || code === "ELOOP") return this.#followLink(name);
      throw error;
    }
    this.#keepOpen(this.#folder);
    this.#folder = child;
    this.#index++;
    return undefined;
  }

  /** Takes the last name. `sentName` is the name in the path for `name`. */
  #takeLast(name: string, sentName: string): ResolvedPath | undefined {
    const handle = this.#openLast(name);
    if (handle === undefined) return this.#meetMissingName();
    try {
      if (!handle.stats.isSymbolicLink()) {
        if (this.#folderOnly && !handle.stats.isDirectory()) throw refuse.absent(this.#requested, "missing");
        return this.#resolved(name, sentName, handle);
      }
      const { lastLink } = this.#options;
      if (lastLink === "stay") this.#verifyLink(name);
      if (lastLink === "stay" || lastLink === "bare") return this.#resolved(name, sentName, handle);
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

  #resolved(name: string, sentName: string, handle: PathHandle): ResolvedPath {
    return new WalkedPath(this.#folder, name, { handle, sentName, newFolders: [] });
  }

  /**
   * Throws unless the link `name` leads to something inside that is not denied, and to a folder if the path
   * requires one.
   */
  #verifyLink(name: string): void {
    const names = [...this.#names.slice(0, this.#index), name];
    walk(this.#rules, this.#requested, { names, folderOnly: this.#folderOnly }, {})[Symbol.dispose]();
  }

  /** Replaces the link `name` by the names of its target. */
  #followLink(name: string): undefined {
    const target = this.#readLink(name);
    if (++this.#links > maxLinks) throw refuse.badLink(this.#requested, "loops");
    const isAbsolute = target.startsWith("/");
    const { names, folderOnly } = splitPath(isAbsolute ? this.#belowBase(target) : target);
    if (this.#index === this.#names.length - 1) this.#folderOnly ||= folderOnly;
    const before = this.#names.slice(0, isAbsolute ? this.#rules.rootDepth : this.#index);
    const after = this.#names.slice(this.#index + 1);
    const ofLinks = Math.max(this.#linkEnd - (this.#index + 1), 0);
    this.#names = [...before, ...names, ...after];
    this.#linkEnd = before.length + names.length + ofLinks;
    this.#hasBack ||= names.includes("..");
    this.#reportNames([...before, ...names], before.length);
    this.#reportNames(this.#names, before.length);
    if (this.#names.length > maxNames) throw refuse.badLink(this.#requested);
    if (isAbsolute || this.#isFar) this.#resolveFromBase();
  }

  /**
   * Reports the path of these names, and each path that a `..` steps back from, except from one of the first
   * `known` names, which are those of real folders.
   */
  #reportNames(names: readonly string[], known: number): void {
    const { onPath } = this.#options;
    if (onPath === undefined) return;
    const plain: string[] = [];
    for (const name of names) {
      if (name !== "..") plain.push(name);
      else {
        if (plain.length > known) onPath(plain.join("/"));
        plain.pop();
      }
    }
    onPath(plain.join("/"));
  }

  #readLink(name: string): string {
    try {
      const target = this.#folder.readLink(name);
      if (isUtf8(target)) return target.toString();
      // Decoded, it would name another file.
      throw refuse.badLink(this.#requested);
    } catch (error) {
      if (errnoOf(error) !== "EINVAL") throw error;
      // It is a file, not a link, and the path continues below it.
      throw this.#index + 1 < this.#linkEnd
        ? refuse.badLink(this.#requested, "dangles")
        : refuse.absent(this.#requested, "below-file");
    }
  }

  /**
   * Returns an absolute target relative to the base or root. A wrong guess cannot escape, since the walk
   * resolves it from the base.
   */
  #belowBase(target: string): string {
    for (const root of this.#rules.linkRoots(this.#folder.path)) {
      if (`${target}/`.startsWith(root)) return target.slice(root.length);
    }
    throw refuse.badLink(this.#requested, "leads-out");
  }

  /** Removes the `..` at `index` and the name before it. */
  #goBack(index: number): undefined {
    const isOfLink = index < this.#linkEnd;
    if (index === 0 && this.#rules.isRoot) {
      this.#names.shift();
      this.#linkEnd = Math.max(this.#linkEnd - 1, 0);
      return this.#restart();
    }
    if (isOfLink && index <= this.#rules.rootDepth) throw refuse.badLink(this.#requested, "leads-out");
    if (index === 0) throw refuse.outside(this.#requested);
    if (++this.#restarts > maxRestarts) {
      throw isOfLink
        ? refuse.badLink(this.#requested)
        : refuse.malformedPath(this.#requested, `steps back with ".." more than ${maxRestarts} times`);
    }
    this.#names.splice(index - 1, 2);
    this.#linkEnd -= Math.min(Math.max(this.#linkEnd - (index - 1), 0), 2);
    // The names that lead to this folder are unchanged if the removed one is missing.
    if (index <= this.#index) this.#stepBack();
    if (this.#isFar) this.#resolveFromBase();
  }

  /** Keeps a folder open if a later `..` may go back to it. */
  #keepOpen(folder: HeldFolder): void {
    if (!this.#hasBack) folder.close();
    else if (this.#above.push(folder) > maxRestarts) this.#above.shift()!.close();
  }

  #closeAbove(): void {
    for (const folder of this.#above.splice(0)) folder.close();
  }

  /** Goes back to the folder that the walk came from. */
  #stepBack(): undefined {
    const above = this.#above.pop();
    if (above === undefined) return this.#restart();
    this.#folder.close();
    this.#folder = above;
    this.#index--;
  }

  #restart(): undefined {
    this.#closeAbove();
    this.#folder.close();
    this.#folder = this.#rules.backend.base(this.#requested);
    this.#index = 0;
  }

  #resolveFromBase(): void {
    this.#restart();
    this.#resolveBeneath();
  }

  #requireBase(path: string): void {
    const refusal = this.#rules.backend.goneAt(path);
    if (refusal !== undefined) throw refusal;
  }

  #meetMissingName(): ResolvedPath | undefined {
    this.#requireBase(pathIn(this.#folder.path, this.#names[this.#index]!));
    if (this.#index < this.#linkEnd) throw refuse.badLink(this.#requested, "dangles");
    // A missing name is not a link, so a `..` after it means the folder that would contain it.
    const back = this.#names.indexOf("..", this.#index + 1);
    return back === -1 ? this.#placeOfNew() : this.#goBack(back);
  }

  #placeOfNew(): ResolvedPath {
    const newNames = this.#names.slice(this.#index);
    let path = this.#folder.path;
    this.#rules.scope?.require(this.#requested, newNames.reduce(pathIn, path), true);
    for (const name of newNames) {
      path = pathIn(path, name);
      if (!this.#options.deniedIsMissing && this.#rules.denies(path, this.#folder.folding))
        throw refuse.absent(this.#requested, "denied");
    }
    const { mayBeMissing = false, parents = false, mayBeFolder = false, isRecorded = false } = this.#options;
    if (!mayBeMissing || (newNames.length > 1 && !parents)) throw refuse.absent(this.#requested, "missing");
    const isTooDeep = !isRecorded && newNames.length > maxNewFolders + 1;
    if (isTooDeep) throw refuse.manyNewFolders(this.#requested, maxNewFolders);
    if (!isRecorded) this.#rules.requireNewNames(this.#requested, newNames, this.#folderOnly && !mayBeFolder);
    const newFolders = newNames.slice(0, -1);
    const name = newNames.at(-1)!;
    return new WalkedPath(this.#folder, name, { handle: undefined, sentName: name, newFolders });
  }
}
