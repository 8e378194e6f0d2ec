/** The part of the tree that one call may touch, if its payload limits that (coder §26). */
import { Refusal } from "../../base/errors.ts";
import { namesOf } from "./backend.ts";
import type { Jail, ProtectedChange, Scope, ScopeGrant, ScopeRequest, SessionRequest } from "./folder.ts";
import { refuseJailed } from "./jail-errors.ts";

/** A file or folder with everything in it, by its path from the base, links resolved. */
interface Region {
  readonly path: string;
  readonly isReadOnly: boolean;
}

/** A region, and the beginning of the path of everything in it. */
interface Folder {
  readonly path: string;
  readonly prefix: string;
}

/** The entries that a call may touch: some regions inside a boundary. */
export class PathScope implements Scope {
  readonly root: readonly string[];
  readonly #boundary: string;
  readonly #regions: readonly (Region & Folder)[];

  /** Creates a scope. The boundary is a folder whose name stays; "" for the base, which has none. */
  constructor(root: readonly string[], boundary: string, regions: readonly Region[]) {
    this.root = root;
    this.#boundary = boundary;
    this.#regions = regions.map((region) => ({ ...region, ...folderAt(region.path) }));
  }

  /** Returns the same part of the tree, with relative paths that start from the base. */
  fromBase(): PathScope {
    return new PathScope([], this.#boundary, this.#regions);
  }

  contains(path: string): boolean {
    return this.#regions.some((region) => isWithin(path, region));
  }

  leadsInside(path: string): boolean {
    const folder = folderAt(path);
    return this.#regions.some((region) => isWithin(path, region) || isWithin(region.path, folder));
  }

  /**
   * Throws out-of-scope unless the scope contains `path` or, if a walk does not end there, something below
   * it.
   */
  require(requested: string, path: string, isEnd: boolean): void {
    if (!(isEnd ? this.contains(path) : this.leadsInside(path))) throw refuseJailed.outOfScope(requested);
  }

  /** Returns the refusal of a change at a `path` that the scope contains, or `undefined` if it is allowed. */
  refusalOfChange(requested: string, path: string, changes: ProtectedChange) {
    // The name of the boundary is an entry of a folder outside.
    if (changes === "tree" && path === this.#boundary && path !== "") return refuseJailed.boundary(requested);
    const isWritable = this.#regions.some((region) => !region.isReadOnly && isWithin(path, region));
    return isWritable ? undefined : refuseJailed.readOnlyGrant(requested);
  }
}

const folderAt = (path: string): Folder => ({ path, prefix: path === "" ? "" : `${path}/` });

const isWithin = (path: string, folder: Folder): boolean =>
  path === folder.path || path.startsWith(folder.prefix);

/** Maximum grants of one scope, each of which is a walk before the call begins. */
const maxGrants = 100;

/** Returns the jail of a scope, which takes the paths that hosts send. */
type ScopedJail = (scope: PathScope | undefined) => Jail;

/**
 * Resolves the paths of a scope: the boundary in the whole tree, and the others inside that, so that links
 * there reveal nothing of the outside. Throws like `Jail.within`.
 */
export function resolveScope(scoped: ScopedJail, { root, boundary = root, grants }: ScopeRequest): PathScope {
  requireFewGrants(grants);
  const limit = pathOfFolder(scoped(undefined), boundary);
  const whole = [{ path: limit, isReadOnly: false }];
  const bounded = scoped(new PathScope([], limit, whole));
  const start = boundary === root ? limit : pathOfFolder(bounded, root);
  return new PathScope(namesOf(start), limit, grants?.map((grant) => regionOf(bounded, grant)) ?? whole);
}

/**
 * Resolves the paths of a session in the whole tree. Throws like `Jail.withinSession`. A grant that leads
 * nowhere in the tree is ignored, which takes rights away and gives none.
 */
export function resolveSession(
  scoped: ScopedJail,
  { folder, reachesAll, grants }: SessionRequest,
): PathScope {
  requireFewGrants(grants);
  const jail = scoped(undefined);
  const start = pathOfFolder(jail, folder);
  if (reachesAll) return new PathScope(namesOf(start), "", [{ path: "", isReadOnly: false }]);
  const regions = grants.flatMap((grant) => {
    try {
      return [regionOf(jail, grant)];
    } catch (error) {
      if (error instanceof Refusal) return [];
      throw error;
    }
  });
  return new PathScope(namesOf(start), start, [{ path: start, isReadOnly: false }, ...regions]);
}

function requireFewGrants(grants: readonly ScopeGrant[] = []): void {
  if (grants.length > maxGrants) throw refuseJailed.manyGrants(grants.length, maxGrants);
}

const regionOf = (jail: Jail, { path, read_only: isReadOnly }: ScopeGrant): Region => ({
  path: pathOfGrant(jail, path),
  isReadOnly,
});

function pathOfFolder(jail: Jail, path: string): string {
  using folder = jail.admitFolder(path);
  return folder.path;
}

/** Returns the path of a grant. It may be missing, and created later; a denied path must look the same. */
function pathOfGrant(jail: Jail, path: string): string {
  using place = jail.admit(path, {
    mayBeMissing: true,
    mayBeFolder: true,
    parents: true,
    deniedIsMissing: true,
  });
  return place.path;
}
