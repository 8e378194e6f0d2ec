/** Several roots, which callers see as the entries of one top folder. */
import { lstatSync, realpathSync, type Stats, statSync } from "node:fs";
import { resolve } from "node:path";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import { compileGlobSet } from "../../text/globs/glob-set.ts";
import type { Backend } from "./backend.ts";
import { escapeGlob } from "./denylist-globs.ts";
import { errnoError, errnoOf } from "./errno.ts";
import type { Jail, MissingRoot } from "./folder.ts";
import {
  type OpenRoot,
  openRoot,
  type RootOptions,
  requireEnterable,
  type SharedRules,
} from "./open-root.ts";

/** The roots of a jail. */
export interface RootSet {
  /** Whether callers see a top folder with the roots in it, and not the one root itself. */
  readonly hasTop: boolean;
  readonly all: readonly OpenRoot[];
  /** Roots that are not served. */
  readonly missing: readonly MissingRoot[];
  /** Returns the names of the roots whose folders are gone, after an attempt to open each again. */
  gone(): readonly string[];
  /**
   * Returns the root that a path leads into, or `undefined` for the top folder and for paths outside all
   * roots.
   */
  at(path: string): OpenRoot | undefined;
  /** Returns the path of names that lead from one root into another one inside it, which serves them. */
  servedAs(names: readonly string[]): string | undefined;
}

/** Returns the set of the one base. */
export const onlyRoot = (root: OpenRoot): RootSet => ({
  hasTop: false,
  all: [root],
  missing: [],
  gone: () => [],
  at: () => root,
  servedAs: () => undefined,
});

/** Returns the names of the roots that are configured, and whose folders are not served. */
export const unservedRoots = (jail: Pick<Jail, "missingRoots" | "goneRoots">): string[] => [
  ...jail.missingRoots.map(({ name }) => name),
  ...jail.goneRoots(),
];

/** Several roots, by name. A root that is removed and created again is opened again. */
export class Roots implements RootSet {
  readonly hasTop = true;
  readonly missing: readonly MissingRoot[];
  readonly #options: ReadonlyMap<string, PlacedRoot>;
  readonly #shared: SharedRules;
  readonly #open = new Map<string, OpenRoot>();
  readonly #owners = new Map<string, number>();
  /**
   * Backends of roots whose folder is gone. Anything that a call still holds of them closes with the jail.
   */
  readonly #former: Backend[] = [];

  private constructor(placed: readonly PlacedRoot[], missing: readonly MissingRoot[], shared: SharedRules) {
    this.#shared = shared;
    this.#options = new Map(placed.map((root) => [root.name, root]));
    this.missing = missing;
  }

  /**
   * Opens the roots whose folders exist, one in each step. Throws an Error of one sentence that is not for
   * callers, like `openRoot` does, for two roots of one folder, and if no folder exists.
   */
  static *open(options: readonly RootOptions[], shared: SharedRules): Steps<Roots> {
    const placed = withoutInner(options);
    const missing: MissingRoot[] = [];
    for (const root of options) {
      const found = missingRoot(root);
      if (found !== undefined) missing.push(found);
      yield;
    }
    const roots = new Roots(placed, missing.length < options.length ? missing : [], shared);
    const absent = new Set(roots.missing.map(({ name }) => name));
    try {
      for (const root of placed) {
        if (!absent.has(root.name)) roots.#openRoot(root);
        yield;
      }
      return roots;
    } catch (error) {
      roots.close();
      throw error;
    }
  }

  get all(): readonly OpenRoot[] {
    return [...this.#open.values()];
  }

  at(path: string): OpenRoot | undefined {
    const slash = path.indexOf("/");
    return this.#open.get(slash === -1 ? path : path.slice(0, slash));
  }

  /**
   * Returns the root with this name, reopened if needed, or `undefined` if the name is unknown or the folder
   * is gone.
   */
  reach(name: string): OpenRoot | undefined {
    const root = this.#open.get(name);
    if (root?.backend.goneAt("") === undefined) return root;
    return this.#reopen(root);
  }

  servedAs([outer = "", ...below]: readonly string[]): string | undefined {
    const holding = (this.#options.get(outer)?.inner ?? []).filter(({ path }) =>
      `${below.join("/")}/`.startsWith(`${path}/`),
    );
    const [deepest] = holding.sort((one, other) => other.path.length - one.path.length);
    return deepest && [deepest.name, ...below.slice(deepest.path.split("/").length)].join("/");
  }

  gone(): readonly string[] {
    return [...this.#open.keys()].filter((name) => this.reach(name) === undefined);
  }

  close(): void {
    for (const backend of [...this.#former, ...this.all.map((root) => root.backend)]) backend.close();
  }

  #openRoot(options: RootOptions): OpenRoot {
    const root = openRoot(options, this.#shared);
    this.#open.set(root.name, root);
    this.#owners.set(root.name, statsOf(root).uid);
    return root;
  }

  /**
   * Reopens a root whose folder was gone. A folder at its path counts as the same only if it belongs to the
   * same user.
   */
  #reopen({ name, base, linkRoots, backend }: OpenRoot): OpenRoot | undefined {
    const owner = this.#owners.get(name);
    const isBack = () => lstatSync(base).uid === owner && realpathSync(base) === base;
    let root: OpenRoot | undefined;
    try {
      if (!isBack()) return undefined;
      root = openRoot({ ...this.#options.get(name)!, path: base }, this.#shared);
      // It may have been replaced before it was open.
      if (!isAt(root, base) || !isBack()) throw errnoError("ESTALE");
    } catch {
      root?.backend.close();
      return undefined;
    }
    this.#former.push(backend);
    const reopened = { ...root, linkRoots };
    this.#open.set(name, reopened);
    return reopened;
  }
}

const statsOf = ({ backend }: OpenRoot): Stats => backend.base(".").lstat(".");

/** Returns whether the held folder has this path. */
const isAt = (root: OpenRoot, path: string): boolean => isSame(statsOf(root), lstatSync(path));

/** A root, and the other roots in it with their paths from it. */
interface PlacedRoot extends RootOptions {
  readonly inner?: readonly { readonly name: string; readonly path: string }[];
}

/**
 * Returns the roots, each denying the others that lie in it, so that every entry has one path, and one set of
 * rules. Throws an Error for two roots of one folder.
 */
function withoutInner(options: readonly RootOptions[]): PlacedRoot[] {
  const placed = options.map((root) => ({ root, ...placeOf(root.path) }));
  return placed.map(({ root, base, stats }) => {
    const inner: { name: string; path: string }[] = [];
    const beginning = base?.endsWith("/") ? base : `${base}/`;
    for (const other of placed) {
      if (other.root === root || base === undefined || other.base === undefined) continue;
      if (isSame(stats, other.stats))
        throw new Error(
          `The roots ${JSON.stringify(root.name)} and ${JSON.stringify(other.root.name)} are one folder, ${JSON.stringify(base)}.`,
        );
      // With hundreds of roots, `relative` takes half a microsecond for each pair.
      if (other.base.startsWith(beginning))
        inner.push({ name: other.root.name, path: other.base.slice(beginning.length) });
    }
    if (inner.length === 0) return root;
    const globs = inner.map(({ path }) => escapeGlob(path));
    return { ...root, inner, deny: compileGlobSet([...(root.deny?.patterns ?? []), ...globs]) };
  });
}

/** Returns the root as a missing one if its path cannot be reached, or its folder not be entered. */
function missingRoot({ name, path }: RootOptions): MissingRoot | undefined {
  try {
    const base = realpathSync(path);
    if (statSync(base).isDirectory()) requireEnterable(base);
    return undefined;
  } catch (error) {
    return { name, path: resolve(path), reason: errnoOf(error) ?? "unknown" };
  }
}

/** Returns the place of a path, empty if it cannot be reached. */
function placeOf(path: string): { base?: string; stats?: Stats } {
  try {
    const base = realpathSync(path);
    return { base, stats: lstatSync(base) };
  } catch {
    return {};
  }
}

const isSame = (one: Stats | undefined, other: Stats | undefined): boolean =>
  one !== undefined && one.ino === other?.ino && one.dev === other.dev;
