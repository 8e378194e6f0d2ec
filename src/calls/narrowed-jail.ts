/** The part of the tree that the payload of one call limits it to (coder §26). */
import { Refusal } from "../base/errors.ts";
import type { Jail, ScopeGrant, ScopeRequest } from "../filesystem/jail/folder.ts";
import { type FsScope, sessionBoundary } from "./contract/fs-scope.ts";
import { refuseField } from "./requests/field-errors.ts";

/** Returns the jail for a valid scope. Throws like `Jail.within` and `Jail.withinSession`. */
export function narrowedJail(jail: Jail, scope: FsScope): Jail {
  const { root, grants } = scope;
  const session = sessionBoundary(scope);
  if (session === undefined) return jailWithin(jail, { ...scope, grants: grants?.map(asGrant) });
  return jail.withinSession({
    folder: root,
    reachesAll: session === "configured_roots",
    grants: (grants ?? []).map(asGrant),
  });
}

/** Returns the jail of a scope. Throws a refusal that names the part outside its boundary. */
function jailWithin(jail: Jail, scope: ScopeRequest): Jail {
  try {
    return jail.within(scope);
  } catch (error) {
    if (!(error instanceof Refusal) || error.reason !== "out-of-scope" || error.path === undefined)
      throw error;
    const { root, boundary = root } = scope;
    const part = boundary !== root && error.path === root ? "root" : "grant";
    throw refuseField.outsideBoundary(part, error.path, boundary);
  }
}

const asGrant = (grant: NonNullable<FsScope["grants"]>[number]): ScopeGrant =>
  typeof grant === "string" ? { path: grant, read_only: false } : grant;
