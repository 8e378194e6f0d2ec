/** The part of the tree that the payload of one call limits it to (coder §26). */
import type { Jail, ScopeGrant } from "../filesystem/jail/folder.ts";
import { type FsScope, sessionBoundary } from "./contract/fs-scope.ts";

/** Returns the jail for a valid scope. Throws like `Jail.within` and `Jail.withinSession`. */
export function narrowedJail(jail: Jail, scope: FsScope): Jail {
  const { root, grants } = scope;
  const session = sessionBoundary(scope);
  if (session === undefined) return jail.within({ ...scope, grants: grants?.map(asGrant) });
  return jail.withinSession({
    folder: root,
    reachesAll: session === "configured_roots",
    grants: (grants ?? []).map(asGrant),
  });
}

const asGrant = (grant: NonNullable<FsScope["grants"]>[number]): ScopeGrant =>
  typeof grant === "string" ? { path: grant, read_only: false } : grant;
