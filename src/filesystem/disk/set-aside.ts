/** The step that removes an entry, or gives it a temporary name until it is removed. */
import { randomBytes } from "node:crypto";
import { rmdirSync, unlinkSync } from "node:fs";
import { quickRevisionOf } from "../files/revision.ts";
import type { Entry } from "../files/types.ts";
import { nameText } from "../jail/backend.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import type { Folder, JailedPath, Name } from "../jail/folder.ts";
import { temporaryName } from "../jail/temporary.ts";
import { type At, entriesAt, type PinnedEntry, pinEntry } from "./held-entry.ts";
import type { StepEntries } from "./mutation.ts";
import type { MutationDescription } from "./mutations.ts";
import { retryStale } from "./retry-stale.ts";
import {
  after,
  type MutationScope,
  moveVerified,
  type StepPlace,
  stepAt,
  type VerifyEntry,
} from "./scope.ts";

type NamedEntry = Pick<Entry, "raw" | "kind">;

/** Removes a name. A folder must be empty, and a link is not followed. Throws like `removeVerified`. */
export function removeEntry(scope: MutationScope, folder: Folder, entry: NamedEntry): void {
  if (entry.kind === "dir") removeFolder(scope, folder, entry.raw);
  else if (scope.mutations.isObserved) removeVerified(scope, folder, entry);
  else folder.enter((at) => unlinkSync(at(entry.raw)));
}

function removeFolder(scope: MutationScope, folder: Folder, name: Name): void {
  const pinned = pinEntry(folder, name);
  // Otherwise listeners could see nothing, and another program put the folder back for the step to remove.
  if (pinned === undefined) throw errnoError("ENOENT");
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind: "dir" }, { replaced: () => pinned.entry }),
    () => folder.enter((at) => rmdirSync(at(name))),
  );
}

/**
 * Reports the removal of a folder that the call was emptying when another program moved it: an undo has to
 * make it again for what was in it.
 */
export function reportMoved(scope: MutationScope, folder: Folder, name: Name, { entry }: PinnedEntry): void {
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind: "dir" }, { replaced: () => entry }),
    () => {},
  );
}

/** Removes a folder again that the call made for a change that has failed. Throws the errno error. */
export function takeBackFolder(scope: MutationScope, folder: Folder, name: string): void {
  scope.mutations.step(
    () => ({ ...removalOf(scope, folder, { raw: name, kind: "dir" }), takesBack: true }),
    () => folder.enter((at) => rmdirSync(at(name))),
  );
}

interface VerifiedRemoval extends NamedEntry {
  /** Receives the entry under a temporary name. Its error puts the entry back. */
  readonly verify?: (path: JailedPath) => void;
}

/**
 * Removes a file or link under a temporary name, where no other program can replace it, and only as listeners
 * have seen it. Throws the errno error, ESTALE if other programs replace it again and again.
 */
export function removeVerified(scope: MutationScope, folder: Folder, removal: VerifiedRemoval): void {
  retryStale((mayBeWritten) => removePinned(scope, folder, { ...removal, mayBeWritten }));
}

interface PinnedRemoval extends VerifiedRemoval {
  readonly mayBeWritten: boolean;
}

function removePinned(scope: MutationScope, folder: Folder, removal: PinnedRemoval): void {
  const { raw: name, kind, verify, mayBeWritten } = removal;
  const pinned = pinEntry(folder, name);
  if (pinned === undefined) throw errnoError("ENOENT");
  if (pinned.entry.kind === "dir") throw errnoError("ESTALE");
  const verifyPinned: VerifyEntry = (path, { isRenamed }) => {
    pinned.requireSame(path, mayBeWritten);
    if (isRenamed) verify?.(path);
  };
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind }, { replaced: () => pinned.entry }),
    () => folder.enter((at) => removeAside(at, name, verifyPinned)),
  );
}

function removeAside(at: At, name: Name, verify: VerifyEntry): void {
  const aside = temporaryName();
  try {
    moveVerified([at(name), at(aside)], verify, at(keptName(name)));
  } catch (error) {
    if (errnoOf(error) !== "ENOSPC" && errnoOf(error) !== "EDQUOT") throw error;
    // A full disk may have no room for a name, and removing files is how it gets some.
    verify(at(name), after);
    unlinkSync(at(name));
    return;
  }
  unlinkSync(at(aside));
}

/** Returns the name for an entry that another program has put at the name of one that was to be removed. */
export const keptName = (name: Name): string =>
  `${[...nameText(name)].slice(0, 50).join("")}.kept-${randomBytes(4).toString("hex")}`;

/** Removes a temporary file. Throws the errno error. */
export function sweepEntry(scope: MutationScope, folder: Folder, { raw }: Entry): void {
  scope.mutations.step(
    () => ({ ...stepAt(scope, folder, { name: raw, entry: "file" }), kind: "sweep" }),
    () => folder.enter((at) => unlinkSync(at(raw))),
  );
}

function removalOf(
  scope: MutationScope,
  folder: Folder,
  { raw: name, kind }: NamedEntry,
  entries: StepEntries = entriesAt({ folder, name }),
): MutationDescription {
  return {
    ...stepAt(scope, folder, { name, entry: kind }),
    kind: "remove",
    revisionBefore: kind === "file" ? () => entries.replaced()?.read(quickRevisionOf) : undefined,
    entries,
  };
}

/** Returns the entries of `setEntryAside`. */
export const entriesAside = ({ folder, name, temporary, entry }: StepPlace): StepEntries =>
  entriesAt({ folder, name, ...(entry === "dir" && { aside: temporary }) });

/**
 * Gives an entry that is to be removed, a folder with everything in it, the temporary name. `entries` are
 * those of the step, which listeners may have read. Throws the errno error.
 */
export function setEntryAside(
  scope: MutationScope,
  place: StepPlace & { readonly verify: VerifyEntry },
  entries = entriesAside(place),
): StepEntries {
  const { folder, name, temporary, entry, verify } = place;
  scope.mutations.step(
    () => removalOf(scope, folder, { raw: name, kind: entry }, entries),
    () => folder.enter((at) => moveVerified([at(name), at(temporary)], verify, at(keptName(name)))),
  );
  return entries;
}
