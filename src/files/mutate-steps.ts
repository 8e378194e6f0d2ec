/**
 * The part of `mutate.ts` that makes the steps of transactions, each of which assigns and removes names in a
 * way that can be reverted. Reverting is not reported: for listeners it is the failure of the whole.
 */
import { lstatSync, unlinkSync } from "node:fs";
import type { Folder, JailedPath } from "../jail/folder.ts";
import type { EntryKind } from "../jail/kind.ts";
import { type SwappedNames, swapVerified } from "./exchange.ts";
import { type At, entriesAt, entriesOfRename } from "./held-entry.ts";
import { removeHiddenFolder } from "./hidden-folder.ts";
import { moveSameEntry } from "./move-to-new.ts";
import { type MutationScope, stepAt } from "./mutate.ts";
import { withBoth } from "./mutate-names.ts";
import { revisionAt } from "./revision.ts";

/** A name in a folder. */
export interface HeldName {
  readonly folder: Folder;
  readonly name: string;
}

/** A name, plus the temporary name of the entry that is about to take it or has just given it up. */
export interface StepPlace extends HeldName {
  readonly temporary: string;
  /** The kind of the entry that gets or loses the name. */
  readonly entry: EntryKind;
}

/**
 * Throws if an entry differs from the expected one. It is called before the step and, if the step removes
 * something, again when no other program can reach that any longer: then its error undoes the step.
 */
export type VerifyEntry = (path: JailedPath, when: { readonly isRenamed: boolean }) => void;

const before = { isRenamed: false };
const after = { isRenamed: true };

export interface Placing extends StepPlace {
  readonly verify: VerifyEntry;
  /** The path of the source, for a copy. */
  readonly from?: string | undefined;
  readonly revisionAfter?: string | undefined;
}

/** Gives a staged entry its name. Throws the errno error, EEXIST if the name is taken. */
export function placeEntry(scope: MutationScope, placing: Placing): void {
  const { folder, name, temporary, entry, verify, from, revisionAfter } = placing;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry }),
      kind: from !== undefined ? "copy" : entry === "dir" ? "make-folder" : "create",
      ...(from !== undefined && { from }),
      revisionAfter: () => revisionAfter,
      entries: entriesAt({ folder, name, temporary }),
    }),
    () =>
      folder.enter((at) => {
        verify(at(temporary), before);
        moveSameEntry(at(temporary), at(name));
      }),
  );
}

export interface Exchanging extends StepPlace {
  /** A third name, for systems that need more than one call to exchange two. */
  readonly aside: string;
  readonly verifyStaged: VerifyEntry;
  readonly verifyReplaced: VerifyEntry;
  readonly revisionAfter?: string | undefined;
}

/**
 * Gives a staged file or link the name of another, which then has the temporary one. Throws the errno error.
 */
export function exchangeEntry(scope: MutationScope, exchange: Exchanging): void {
  const { folder, name, temporary, entry, revisionAfter } = exchange;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry }),
      kind: "replace",
      revisionBefore: () => folder.enter((at) => revisionAt(at(name))),
      revisionAfter: () => revisionAfter,
      entries: entriesAt({ folder, name, temporary }),
    }),
    () => folder.enter((at) => exchangeNow(exchange, namesAt(at, exchange))),
  );
}

function exchangeNow({ verifyStaged, verifyReplaced }: Exchanging, names: SwappedNames): void {
  verifyStaged(names.temporary, before);
  verifyReplaced(names.name, before);
  swapVerified(names, (path) => verifyReplaced(path, after));
}

const namesAt = (at: At, { temporary, name, aside }: Pick<Exchanging, "temporary" | "name" | "aside">) => ({
  temporary: at(temporary),
  name: at(name),
  aside: at(aside),
});

/**
 * Gives an entry that is to be removed, a folder with everything in it, the temporary name. Throws the errno
 * error.
 */
export function setEntryAside(
  scope: MutationScope,
  { folder, name, temporary, entry, verify }: StepPlace & { readonly verify: VerifyEntry },
): void {
  scope.mutations.step(
    () => ({
      ...stepAt(scope, folder, { name, entry }),
      kind: "remove",
      revisionBefore: entry === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined,
      entries: entriesAt({ folder, name }),
    }),
    () => folder.enter((at) => moveVerified([at(name), at(temporary)], verify)),
  );
}

export interface StepRename {
  readonly source: HeldName;
  readonly target: HeldName;
  readonly from: string;
  readonly entry: EntryKind;
  readonly verify: VerifyEntry;
}

/**
 * Renames an entry. Throws the errno error, EEXIST if the name is taken, EXDEV if it takes more than one
 * step.
 */
export function renameAsStep(
  scope: MutationScope,
  { source, target, from, entry, verify }: StepRename,
): void {
  const { folder, name } = source;
  scope.mutations.step(
    () => ({
      ...stepAt(scope, target.folder, { name: target.name, entry }),
      kind: "rename",
      from,
      revisionBefore: entry === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined,
      entries: entriesOfRename(source, target),
    }),
    () =>
      withBoth(folder, target.folder, (atSource, atTarget) =>
        moveVerified([atSource(name), atTarget(target.name)], verify),
      ),
  );
}

function moveVerified([from, to]: readonly [JailedPath, JailedPath], verify: VerifyEntry): void {
  verify(from, before);
  moveSameEntry(from, to);
  try {
    verify(to, after);
  } catch (error) {
    moveSameEntry(to, from);
    throw error;
  }
}

/** Reverts a place, a set-aside or a rename. Throws the errno error, EEXIST if the name is taken. */
export function moveBack([from, to]: readonly [HeldName, HeldName], verify: VerifyEntry): void {
  withBoth(from.folder, to.folder, (atFrom, atTo) =>
    moveVerified([atFrom(from.name), atTo(to.name)], (path) => verify(path, after)),
  );
}

/** Reverts an exchange. Throws the errno error. */
export function exchangeBack(
  exchange: Pick<Exchanging, "folder" | "name" | "temporary" | "aside" | "verifyStaged" | "verifyReplaced">,
): void {
  exchange.folder.enter((at) => {
    const names = namesAt(at, exchange);
    exchange.verifyReplaced(names.temporary, after);
    exchange.verifyStaged(names.name, after);
    swapVerified(names, (path) => exchange.verifyStaged(path, after));
  });
}

/** Reverts a change of mode. Throws the errno error. */
export function restoreMode({ folder, name }: HeldName, mode: number, verify: VerifyEntry): void {
  const handle = folder.openPath(name);
  try {
    folder.enter((at) => verify(at(name), after));
    if ((handle.stats.mode & 0o7777) !== mode) handle.chmod(mode);
  } finally {
    handle.close();
  }
}

/** Removes one of the two names that a file has in the middle of a step. Throws the errno error. */
export function dropSecondName([kept, dropped]: readonly [HeldName, HeldName], verify: VerifyEntry): void {
  withBoth(kept.folder, dropped.folder, (atKept, atDropped) => {
    verify(atKept(kept.name), after);
    verify(atDropped(dropped.name), after);
    unlinkSync(atDropped(dropped.name));
  });
}

/** Removes the entry with a temporary name, a folder with everything in it. Does nothing if it is gone. */
export async function removeTemporary(held: HeldName, verify: VerifyEntry): Promise<void> {
  const { folder, name } = held;
  const isFolder = folder.enter((at) => {
    const stats = lstatSync(at(name), { throwIfNoEntry: false });
    if (stats === undefined) return false;
    verify(at(name), after);
    if (stats.isDirectory()) return true;
    unlinkSync(at(name));
    return false;
  });
  if (isFolder) await removeHiddenFolder(folder, name);
}
