/**
 * The one door through which the tree changes: every verb comes here with the folder that it holds, and whatever wants
 * to know of changes listens here. Nothing else gives names, takes them away or sets permissions (`npm run rooms`); new
 * content waits in a temporary file, which is no change yet.
 */
import { mkdirSync, readlinkSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { nameText, pathIn } from "../jail/backend.ts";
import { errnoError } from "../jail/errno.ts";
import type { Folder, JailedPath, Name, PathHandle, ResolvedPath } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { moveToNew } from "./move-to-new.ts";
import type { Mutation, MutationKind, Permissions, Requester } from "./mutation.ts";
import type { MutationDescription, Mutations } from "./mutations.ts";
import { revisionAt, revisionOf } from "./revision.ts";
import type { Entry } from "./types.ts";

/** What mutations belong to. */
export interface MutationScope {
  readonly mutations: Mutations;
  readonly requester: Requester | undefined;
  readonly whole?: Mutation | undefined;
}

/** Changes a whole tree at `path`, in steps that `act` makes with the scope that it is given. */
export function changeTree<T>(
  scope: MutationScope,
  description: Pick<MutationDescription, "kind" | "path" | "from" | "entry" | "permissions">,
  act: (steps: MutationScope) => Promise<T>,
): Promise<T> {
  const describe = () => ({ ...description, requester: scope.requester });
  return scope.mutations.tree(describe, (whole) => act(whole === undefined ? scope : { ...scope, whole }));
}

export type At = (name: Name) => JailedPath;

/** New content, flushed if need be, in a temporary file that is still open. */
export interface WrittenFile {
  readonly at: At;
  readonly temporary: string;
  readonly descriptor: number;
}

/** The name that new content is to have. */
export interface CommitTarget {
  readonly folder: Folder;
  readonly name: Name;
  /** Whether a file has the name. */
  readonly isReplacing: boolean;
  /** The path that a caller sent, where what has the name must not be replaced. */
  readonly exclusive?: string | undefined;
  /** Gets the path before it is replaced, and throws to keep what is there. */
  readonly verify?: ((path: JailedPath) => void) | undefined;
}

/** Gives new content its name, in one step. Called where the folder is entered. */
export function commitFile(scope: MutationScope, written: WrittenFile, target: CommitTarget): void {
  const { at, temporary, descriptor } = written;
  const { folder, name, isReplacing, exclusive, verify } = target;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "file" }),
      kind: isReplacing ? "replace" : "create",
      revisionBefore: isReplacing ? () => revisionAt(at(name)) : undefined,
      revisionAfter: () => revisionOf(descriptor),
    }),
    () => {
      verify?.(at(name));
      if (exclusive === undefined) renameSync(at(temporary), at(name));
      else moveToNew(at(temporary), at(name), exclusive);
    },
  );
}

/** Removes a name: a folder must be empty, a link is not followed. Throws the errno error. */
export function removeEntry(scope: MutationScope, folder: Folder, entry: Pick<Entry, "raw" | "kind">): void {
  removeAs("remove", { scope, folder, entry });
}

/** Removes a temporary file. Throws the errno error. */
export function sweepEntry(scope: MutationScope, folder: Folder, { raw }: Entry): void {
  removeAs("sweep", { scope, folder, entry: { raw, kind: "file" } });
}

interface Removal {
  readonly scope: MutationScope;
  readonly folder: Folder;
  readonly entry: Pick<Entry, "raw" | "kind">;
}

function removeAs(kind: MutationKind, { scope, folder, entry }: Removal): void {
  const { raw: name, kind: type } = entry;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: type }),
      kind,
      revisionBefore: type === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined,
    }),
    () => folder.enter((at) => (type === "dir" ? rmdirSync(at(name)) : unlinkSync(at(name)))),
  );
}

/** Two places on the way from one name to another. */
export interface Move {
  readonly source: ResolvedPath;
  readonly target: Pick<ResolvedPath, "folder" | "name">;
  /** The path that a caller sent, where what has the new name must not be replaced. */
  readonly exclusive: string | undefined;
}

/** Gives a file, link or folder another name in one step. Throws the errno error, EXDEV where it takes more than one. */
export function renameEntry(scope: MutationScope, { source, target, exclusive }: Move): void {
  scope.mutations.step(
    () => {
      const entry = kindOf(source.stats!) ?? "other";
      const { folder, name } = source;
      const revision = entry === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined;
      const step = stepAt(scope, target.folder, { name: target.name, entry });
      return { ...step, kind: "rename", from: source.path, revisionBefore: revision };
    },
    () =>
      withBoth(source.folder, target.folder, (atSource, atTarget) => {
        const [from, to] = [atSource(source.name), atTarget(target.name)];
        if (exclusive === undefined) renameSync(from, to);
        else moveToNew(from, to, exclusive);
      }),
  );
}

/** Makes a link anew where nothing is, and removes it where it was: for when `renameEntry` throws EXDEV. */
export function remakeLink(scope: MutationScope, { source, target }: Omit<Move, "exclusive">): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, target.folder, { name: target.name, entry: "symlink" }),
      kind: "rename",
      from: source.path,
    }),
    () => {
      const text = source.folder.enter((at) => readlinkSync(at(source.name), "buffer"));
      target.folder.enter((at) => symlinkSync(text, at(target.name)));
      source.folder.enter((at) => unlinkSync(at(source.name)));
    },
  );
}

/** Lets `act` name entries of both. Throws EXDEV where only one folder can be held, and these are two. */
function withBoth(one: Folder, other: Folder, act: (atOne: At, atOther: At) => void): void {
  if (one.descriptor !== undefined) one.enter((atOne) => other.enter((atOther) => act(atOne, atOther)));
  else if (one.path === other.path) one.enter((at) => act(at, at));
  else throw errnoError("EXDEV");
}

/**
 * Makes a folder, with exactly this `mode` or else with what the umask leaves. Throws the errno error; when that is of
 * the mode, the folder stays.
 */
export function makeDirectory(
  scope: MutationScope,
  folder: Folder,
  { name, mode }: { name: string; mode?: number },
): void {
  scope.mutations.step(
    () => ({ ...stepAt(scope, folder, { name, entry: "dir" }), kind: "make-folder" }),
    () => {
      if (mode === undefined) {
        folder.enter((at) => mkdirSync(at(name)));
        return;
      }
      // Nobody else may enter before it has its mode.
      folder.enter((at) => mkdirSync(at(name), 0o700));
      const handle = folder.openPath(name);
      try {
        handle.chmod(mode);
      } finally {
        handle.close();
      }
    },
  );
}

/** A file or folder whose permissions are to change. */
export interface Permitted {
  readonly path: string;
  readonly handle: Pick<PathHandle, "chmod" | "chown">;
  readonly stats: NonNullable<ResolvedPath["stats"]>;
}

/** Sets permission bits and owners. Throws the errno error; then the bits may be set already. */
export function changePermissions(
  scope: MutationScope,
  { path, handle, stats }: Permitted,
  permissions: Permissions,
): void {
  scope.mutations.step(
    () => ({
      kind: "change-mode",
      path,
      entry: kindOf(stats) ?? "other",
      permissions: permissionChange(stats, permissions),
      requester: scope.requester,
      whole: scope.whole,
    }),
    () => applyPermissions(handle, stats, permissions),
  );
}

/** What a change of permissions changes, for its mutation. */
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

function stepAt(
  { requester, whole }: MutationScope,
  folder: Folder,
  { name, entry }: { name: Name; entry: EntryKind },
): Pick<MutationDescription, "path" | "entry" | "requester" | "whole"> {
  return { path: pathIn(folder.path, nameText(name)), entry, requester, whole };
}
