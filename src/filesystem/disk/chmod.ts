/** The step that sets permission bits and owners. */
import type { PathHandle, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import type { Mutation, Permissions } from "./mutation.ts";
import type { MutationScope } from "./scope.ts";

/** A file or folder whose permissions are to change. */
export interface Permitted {
  readonly path: string;
  /** `false` if a name of the path is not UTF-8. Default: true. */
  readonly isText?: boolean;
  readonly handle: Pick<PathHandle, "chmod" | "chown">;
  readonly stats: NonNullable<ResolvedPath["stats"]>;
}

/** Sets permission bits and owners. Throws the errno error; the bits may be set already then. */
export function changePermissions(
  scope: MutationScope,
  { path, isText, handle, stats }: Permitted,
  permissions: Permissions,
): void {
  scope.mutations.step(
    () => ({
      kind: "change-mode",
      path,
      isText,
      entry: kindOf(stats) ?? "other",
      permissions: permissionChange(stats, permissions),
      requester: scope.requester,
      whole: scope.whole,
    }),
    () => applyPermissions(handle, stats, permissions),
  );
}

/** Returns the permissions before and after a change, for its mutation. */
export const permissionChange = (
  { mode, uid, gid }: Permitted["stats"],
  after: Permissions,
): NonNullable<Mutation["permissions"]> => ({ before: { mode: mode & 0o7777, uid, gid }, after });

function applyPermissions(
  handle: Permitted["handle"],
  stats: Permitted["stats"],
  { mode, uid, gid }: Permissions,
): void {
  handle.chmod(mode);
  if (uid === undefined && gid === undefined) return;
  handle.chown(uid ?? stats.uid, gid ?? stats.gid);
  // A new owner costs a file its special bits.
  if (mode > 0o777) handle.chmod(mode);
}
