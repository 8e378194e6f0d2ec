/**
 * Makes every change of the tree. Verbs call it with the folder that they hold, and listeners are notified of
 * each change. No other file creates or removes a name or sets permissions (`npm test -- --only rooms`); new
 * content waits in a temporary file, which does not count as a change yet.
 */
import { mkdirSync, renameSync, rmdirSync, symlinkSync, unlinkSync } from "node:fs";
import { Refusal, refuse } from "../errors.ts";
import { nameText, pathIn } from "../jail/backend.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name, PathHandle, ResolvedPath } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { temporaryName } from "../jail/temporary.ts";
import { type ReplacedFile, replaceExpected } from "./exchange.ts";
import { type At, entriesAt, linkWith, openedFile } from "./held-entry.ts";
import type { HiddenFolder } from "./hidden-folder.ts";
import { moveToNew } from "./move-to-new.ts";
import type { Mutation, MutationKind, Permissions, Requester } from "./mutation.ts";
import type { MutationDescription, Mutations } from "./mutations.ts";
import { revisionAt, revisionOf } from "./revision.ts";
import type { Entry } from "./types.ts";

export interface MutationScope {
  readonly mutations: Mutations;
  readonly requester: Requester | undefined;
  readonly whole?: Mutation | undefined;
}

/** Changes a whole tree at `path`, in steps that `act` makes with the scope that it receives. */
export function changeTree<T>(
  scope: MutationScope,
  description: Pick<MutationDescription, "kind" | "path" | "from" | "entry" | "permissions">,
  act: (steps: MutationScope) => Promise<T>,
): Promise<T> {
  const describe = () => ({ ...description, requester: scope.requester });
  return scope.mutations.tree(describe, (whole) => act(whole === undefined ? scope : { ...scope, whole }));
}

/** New content, flushed if needed, in a temporary file that is still open. */
export interface WrittenFile {
  readonly at: At;
  readonly temporary: string;
  readonly descriptor: number;
}

/** The name for new content. */
export interface CommitTarget {
  readonly folder: Folder;
  readonly name: Name;
  /** Whether a file has the name. */
  readonly isReplacing: boolean;
  /** The path that a caller sent, if an existing entry must not be replaced. */
  readonly exclusive?: string | undefined;
  /** The expected state of the replaced file, if any. */
  readonly expected?: ReplacedFile | undefined;
}

/** Gives new content its name, in one step. Call it while the folder is entered. */
export function commitFile(scope: MutationScope, written: WrittenFile, target: CommitTarget): void {
  const { at, temporary, descriptor } = written;
  const { folder, name, isReplacing, exclusive, expected } = target;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "file" }),
      kind: isReplacing ? "replace" : "create",
      revisionBefore: isReplacing ? () => revisionAt(at(name)) : undefined,
      revisionAfter: () => revisionOf(descriptor),
      entries: { ...entriesAt({ folder, name, at }), placed: () => openedFile(descriptor) },
    }),
    () => {
      if (expected !== undefined) replaceExpected({ path: at(temporary), descriptor }, at(name), expected);
      else if (exclusive === undefined) renameSync(at(temporary), at(name));
      else moveToNew(at(temporary), at(name), exclusive);
    },
  );
}

/**
 * Gives a folder that was built out of sight its name, in one step, unless that is taken. Throws the errno
 * error.
 */
export function commitFolder(
  scope: MutationScope,
  { name: temporary, requireOurs }: HiddenFolder,
  { folder, name, exclusive, from }: CommitTarget & { readonly from: string },
): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "dir" }),
      kind: "copy",
      from,
      entries: entriesAt({ folder, name, temporary }),
    }),
    () =>
      folder.enter((at) => {
        requireOurs(at(temporary));
        moveToNew(at(temporary), at(name), exclusive!);
      }),
  );
}

/** Removes a name. A folder must be empty, and a link is not followed. Throws the errno error. */
export function removeEntry(scope: MutationScope, folder: Folder, entry: Pick<Entry, "raw" | "kind">): void {
  removeAs("remove", { scope, folder, entry });
}

/**
 * Removes a file or link if `verify` accepts it, which receives it under a temporary name, where no other
 * program can replace it. An error of `verify` puts it back.
 */
export function removeVerified(
  scope: MutationScope,
  folder: Folder,
  { raw: name, kind, verify }: Pick<Entry, "raw" | "kind"> & { readonly verify: (path: JailedPath) => void },
): void {
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind }),
    () =>
      folder.enter((at) => {
        const aside = temporaryName();
        renameSync(at(name), at(aside));
        try {
          verify(at(aside));
        } catch (error) {
          restore(at(aside), at(name));
          throw error;
        }
        unlinkSync(at(aside));
      }),
  );
}

/** Puts an entry back, unless the name is taken by a newer one. */
function restore(aside: JailedPath, name: JailedPath): void {
  try {
    moveToNew(aside, name, "");
  } catch (error) {
    if (!(error instanceof Refusal)) throw error;
    unlinkSync(aside);
  }
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
    () => ({ ...removalOf(scope, folder, entry), kind, ...(kind !== "remove" && { entries: undefined }) }),
    () => folder.enter((at) => (type === "dir" ? rmdirSync(at(name)) : unlinkSync(at(name)))),
  );
}

function removalOf(scope: MutationScope, folder: Folder, entry: Removal["entry"]): MutationDescription {
  const { raw: name, kind: type } = entry;
  return {
    ...stepAt(scope, folder, { name, entry: type }),
    kind: "remove",
    revisionBefore: type === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined,
    entries: entriesAt({ folder, name }),
  };
}

/** Creates a link with this text, in one step. Throws the errno error. */
export function commitLink(
  scope: MutationScope,
  text: Buffer,
  { folder, name, isReplacing, exclusive }: CommitTarget,
): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "symlink" }),
      kind: isReplacing ? "replace" : "create",
      revisionBefore: isReplacing ? () => folder.enter((at) => revisionAt(at(name))) : undefined,
      entries: { ...entriesAt({ folder, name }), placed: () => linkWith(text) },
    }),
    () =>
      folder.enter((at) => {
        if (exclusive === undefined) replaceByLink(text, at(temporaryName()), at(name));
        else makeLink(text, at(name), exclusive);
      }),
  );
}

function replaceByLink(text: Buffer, temporary: JailedPath, path: JailedPath): void {
  symlinkSync(text, temporary);
  try {
    renameSync(temporary, path);
  } catch (error) {
    unlinkSync(temporary);
    throw error;
  }
}

function makeLink(text: Buffer, path: JailedPath, requested: string): void {
  try {
    symlinkSync(text, path);
  } catch (error) {
    throw errnoOf(error) === "EEXIST" ? refuse.exists(requested) : error;
  }
}

/**
 * Creates a folder, with exactly this `mode` or with the one that the umask leaves. Throws the errno error;
 * if setting the mode fails, the folder stays.
 */
export function makeDirectory(
  scope: MutationScope,
  folder: Folder,
  { name, mode }: { name: string; mode?: number | undefined },
): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "dir" }),
      kind: "make-folder",
      entries: entriesAt({ folder, name }),
    }),
    () => {
      if (mode === undefined) {
        folder.enter((at) => mkdirSync(at(name)));
        return;
      }
      // No other user may enter before it has its mode.
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

/** Sets permission bits and owners. Throws the errno error; the bits may be set already then. */
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

/** Describes a step at a name in a folder. */
export function stepAt(
  { requester, whole }: MutationScope,
  folder: Folder,
  { name, entry }: { name: Name; entry: EntryKind },
): Pick<MutationDescription, "path" | "entry" | "requester" | "whole"> {
  return { path: pathIn(folder.path, nameText(name)), entry, requester, whole };
}
