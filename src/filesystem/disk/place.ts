/** The step that gives a new entry a name. */
import { mkdirSync, symlinkSync, unlinkSync } from "node:fs";
import { refuse } from "../../base/errors.ts";
import { quickRevisionOf } from "../files/revision.ts";
import { errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name } from "../jail/folder.ts";
import { requireInode } from "../jail/inode.ts";
import { temporaryName } from "../jail/temporary.ts";
import { type At, entriesAt, linkWith, openedFile, pinEntry } from "./held-entry.ts";
import type { HiddenFolder } from "./hidden-folder.ts";
import { moveSameEntry, moveToNew, replacePinned } from "./move-to-new.ts";
import type { StepEntries } from "./mutation.ts";
import type { MutationDescription } from "./mutations.ts";
import { retryStale } from "./retry-stale.ts";
import { before, type MutationScope, type StepPlace, stepAt, type VerifyEntry } from "./scope.ts";
import { type ReplacedFile, replaceExpected } from "./swap-names.ts";

/** New content, flushed if needed, in a temporary file that is still open. */
export interface WrittenFile {
  readonly at: At;
  readonly temporary: string;
  readonly descriptor: number;
  /** Its inode: another program may have replaced it under the temporary name. */
  readonly inode: string;
  /** The revision of a large file that was hashed. */
  readonly revision?: string | undefined;
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

/**
 * Gives new content its name, in one step. Call it while the folder is entered. Throws the errno error,
 * ESTALE if another program has replaced the temporary file.
 */
export function commitFile(scope: MutationScope, written: WrittenFile, target: CommitTarget): void {
  const { at, temporary, descriptor, inode, revision } = written;
  const { folder, name, isReplacing, exclusive, expected } = target;
  const describe = (replaced: StepEntries["replaced"]): MutationDescription => ({
    ...stepAt(scope, folder, { name, entry: "file" }),
    kind: isReplacing ? "replace" : "create",
    revisionBefore: isReplacing ? () => replaced()?.read(quickRevisionOf) : undefined,
    revisionAfter: () => revision ?? quickRevisionOf(descriptor),
    entries: { replaced, placed: () => openedFile(descriptor) },
  });
  if (exclusive === undefined && expected === undefined) {
    retryStale((mayBeWritten) => {
      const pinned = pinEntry(folder, name, at);
      scope.mutations.step(
        () => describe(() => pinned?.entry),
        () => {
          requireInode(at(temporary), inode);
          replacePinned([at(temporary), at(name)], pinned, mayBeWritten);
        },
      );
    });
    return;
  }
  scope.mutations.step(
    () => describe(entriesAt({ folder, name, at }).replaced),
    () => {
      const path = at(temporary);
      if (expected !== undefined) {
        replaceExpected({ path, descriptor, inode }, at(name), expected);
        return;
      }
      requireInode(path, inode);
      moveToNew(path, at(name), exclusive!);
    },
  );
}

interface FolderTarget extends CommitTarget {
  /** The path of the copied folder. */
  readonly from: string;
  readonly entries: StepEntries;
}

/**
 * Gives a folder that was built out of sight its name, in one step, unless that is taken. `entries` are those
 * of the step, which listeners may have read. Throws the errno error.
 */
export function commitFolder(
  scope: MutationScope,
  { name: temporary, requireOurs }: HiddenFolder,
  { folder, name, exclusive, from, entries }: FolderTarget,
): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry: "dir" }),
      kind: "copy",
      from,
      entries,
    }),
    () =>
      folder.enter((at) => {
        requireOurs(at(temporary));
        moveToNew(at(temporary), at(name), exclusive!);
      }),
  );
}

/** Creates a link with this text, in one step. Throws the errno error. */
export function commitLink(
  scope: MutationScope,
  text: Buffer,
  { folder, name, isReplacing, exclusive }: CommitTarget,
): void {
  const describe = (replaced: StepEntries["replaced"]): MutationDescription => ({
    ...stepAt(scope, folder, { name, entry: "symlink" }),
    kind: isReplacing ? "replace" : "create",
    revisionBefore: isReplacing ? () => replaced()?.read(quickRevisionOf) : undefined,
    entries: { replaced, placed: () => linkWith(text) },
  });
  if (exclusive !== undefined) {
    scope.mutations.step(
      () => describe(entriesAt({ folder, name }).replaced),
      () => folder.enter((at) => makeLink(text, at(name), exclusive)),
    );
    return;
  }
  retryStale((mayBeWritten) => {
    const pinned = pinEntry(folder, name);
    scope.mutations.step(
      () => describe(() => pinned?.entry),
      () =>
        folder.enter((at) =>
          replaceByLink(text, at(temporaryName()), (path) =>
            replacePinned([path, at(name)], pinned, mayBeWritten),
          ),
        ),
    );
  });
}

function replaceByLink(text: Buffer, temporary: JailedPath, giveName: (path: JailedPath) => void): void {
  symlinkSync(text, temporary);
  try {
    giveName(temporary);
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

interface Placing extends StepPlace {
  readonly verify: VerifyEntry;
  /** The path of the source, for a copy. */
  readonly from?: string | undefined;
  readonly entries: StepEntries;
  readonly revisionAfter?: string | undefined;
}

/** Gives a staged entry its name. Throws the errno error, EEXIST if the name is taken. */
export function placeEntry(scope: MutationScope, placing: Placing): void {
  const { folder, name, temporary, entry, verify, from, entries, revisionAfter } = placing;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry }),
      kind: from !== undefined ? "copy" : entry === "dir" ? "make-folder" : "create",
      ...(from !== undefined && { from }),
      revisionAfter: () => revisionAfter,
      entries,
    }),
    () =>
      folder.enter((at) => {
        verify(at(temporary), before);
        moveSameEntry(at(temporary), at(name));
      }),
  );
}
