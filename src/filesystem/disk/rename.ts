/** The step that gives an entry another name. */
import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { quickRevisionAt } from "../files/revision.ts";
import { errnoError } from "../jail/errno.ts";
import { isTextIn, type JailedPath, type ResolvedPath } from "../jail/folder.ts";
import { type EntryKind, kindOf } from "../jail/kind.ts";
import { isListed } from "../jail/listed-name.ts";
import { entriesOfRename, pinEntry } from "./held-entry.ts";
import { moveToNew, replacePinned } from "./move-to-new.ts";
import type { MutationDescription } from "./mutations.ts";
import { retryStale } from "./retry-stale.ts";
import {
  type HeldName,
  type MutationScope,
  moveVerified,
  stepAt,
  type VerifyEntry,
  withBoth,
} from "./scope.ts";

/** The two places of a rename. */
export interface Move {
  readonly source: ResolvedPath;
  readonly target: Pick<ResolvedPath, "folder" | "name">;
  /** The path that a caller sent, if an existing entry must not be replaced. */
  readonly exclusive: string | undefined;
  /** Receives the old path before the entry leaves it, and throws to keep it there. */
  readonly verify?: ((path: JailedPath) => void) | undefined;
}

/** Renames a file, link or folder in one step. Throws the errno error, EXDEV if it takes more than one. */
export function renameEntry(scope: MutationScope, move: Move): void {
  const { source, target, exclusive } = move;
  if (exclusive === undefined) {
    retryStale((mayBeWritten) => renameOver(scope, move, mayBeWritten));
    return;
  }
  scope.mutations.step(
    () => renameOf(scope, move),
    () =>
      withBoth(source.folder, target.folder, (atSource, atTarget) => {
        const [from, to] = [atSource(source.name), atTarget(target.name)];
        move.verify?.(from);
        moveToNew(from, to, exclusive);
      }),
  );
}

function renameOver(scope: MutationScope, move: Move, mayBeWritten: boolean): void {
  const { source, target, verify } = move;
  const pinned = pinEntry(target.folder, target.name);
  const description = renameOf(scope, move);
  scope.mutations.step(
    () => ({ ...description, entries: { ...description.entries, replaced: () => pinned?.entry } }),
    () =>
      withBoth(source.folder, target.folder, (atSource, atTarget) => {
        const [from, to] = [atSource(source.name), atTarget(target.name)];
        verify?.(from);
        replacePinned([from, to], pinned, mayBeWritten);
      }),
  );
}

/**
 * Changes the spelling of an entry's name in a folder that treats both spellings as one, where rename(2) may
 * do nothing. It then has a third name for a moment, which callers can see, and no sweep removes that after a
 * crash. Throws the errno error.
 */
export function respellEntry(scope: MutationScope, move: Move): void {
  const { source, target, exclusive = "", verify } = move;
  const { folder, name } = source;
  scope.mutations.step(
    () => respellingOf(scope, move),
    () => {
      folder.enter((at) => {
        verify?.(at(name));
        renameSync(at(name), at(target.name));
      });
      if (isListed(folder, target.name)) return;
      const third = `${[...target.name].slice(0, 50).join("")}.renaming-${randomBytes(8).toString("hex")}`;
      folder.enter((at) => {
        moveToNew(at(name), at(third), exclusive);
        try {
          moveToNew(at(third), at(target.name), exclusive);
        } catch (error) {
          renameSync(at(third), at(name));
          throw error;
        }
      });
    },
  );
}

/**
 * Removes the old name of a file whose new one is a hard link to it, where rename(2) would do nothing. Throws
 * the errno error.
 */
export function dropOldLink(scope: MutationScope, move: Move): void {
  const { source, target, verify } = move;
  scope.mutations.step(
    () => renameOf(scope, move),
    () => {
      const kept = target.folder.enter((at) => lstatSync(at(target.name), { bigint: true }));
      source.folder.enter((at) => {
        verify?.(at(source.name));
        const { ino, dev } = lstatSync(at(source.name), { bigint: true });
        if (ino !== kept.ino || dev !== kept.dev) throw errnoError("ESTALE");
        unlinkSync(at(source.name));
      });
    },
  );
}

const renameOf = (scope: MutationScope, { source, target }: Move): MutationDescription =>
  describeRename(scope, { source, target, from: source.path, entry: kindOf(source.stats!) ?? "other" });

function describeRename(
  scope: MutationScope,
  { source, target, from, entry }: Omit<StepRename, "verify">,
): MutationDescription {
  const { folder, name } = source;
  const step = stepAt(scope, target.folder, { name: target.name, entry });
  return {
    ...step,
    isText: step.isText && isTextIn(folder, name),
    kind: "rename",
    from,
    revisionBefore: entry === "file" ? () => folder.enter((at) => quickRevisionAt(at(name))) : undefined,
    entries: entriesOfRename(source, target),
  };
}

/** Describes a respelling, whose new name belongs to the entry itself. */
function respellingOf(scope: MutationScope, move: Move): MutationDescription {
  const description = renameOf(scope, move);
  return { ...description, entries: { ...description.entries, replaced: () => undefined } };
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
export function renameAsStep(scope: MutationScope, rename: StepRename): void {
  const { source, target, verify } = rename;
  scope.mutations.step(
    () => describeRename(scope, rename),
    () =>
      withBoth(source.folder, target.folder, (atSource, atTarget) =>
        moveVerified([atSource(source.name), atTarget(target.name)], verify),
      ),
  );
}
