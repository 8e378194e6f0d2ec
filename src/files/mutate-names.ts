/** The part of `mutate.ts` that renames entries. */
import { randomBytes } from "node:crypto";
import { lstatSync, renameSync, unlinkSync } from "node:fs";
import { errnoError } from "../jail/errno.ts";
import type { Folder, JailedPath, ResolvedPath } from "../jail/folder.ts";
import { kindOf } from "../jail/kind.ts";
import { isListed } from "../jail/listed-name.ts";
import { type At, entriesOfRename } from "./held-entry.ts";
import { moveToNew } from "./move-to-new.ts";
import { type MutationScope, stepAt } from "./mutate.ts";
import type { MutationDescription } from "./mutations.ts";
import { revisionAt } from "./revision.ts";

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
  const { source, target, exclusive, verify } = move;
  scope.mutations.step(
    () => renameOf(scope, move),
    () =>
      withBoth(source.folder, target.folder, (atSource, atTarget) => {
        const [from, to] = [atSource(source.name), atTarget(target.name)];
        verify?.(from);
        if (exclusive === undefined) renameSync(from, to);
        else moveToNew(from, to, exclusive);
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

function renameOf(scope: MutationScope, { source, target }: Move): MutationDescription {
  const entry = kindOf(source.stats!) ?? "other";
  const { folder, name } = source;
  const revision = entry === "file" ? () => folder.enter((at) => revisionAt(at(name))) : undefined;
  const step = stepAt(scope, target.folder, { name: target.name, entry });
  const entries = entriesOfRename(source, target);
  return { ...step, kind: "rename", from: source.path, revisionBefore: revision, entries };
}

/** Describes a respelling, whose new name belongs to the entry itself. */
function respellingOf(scope: MutationScope, move: Move): MutationDescription {
  const description = renameOf(scope, move);
  return { ...description, entries: { ...description.entries, replaced: () => undefined } };
}

/**
 * Runs `act` with functions that name entries of both folders. Throws EXDEV if only one folder can be held,
 * and these are two.
 */
export function withBoth(one: Folder, other: Folder, act: (atOne: At, atOther: At) => void): void {
  if (one.descriptor !== undefined) one.enter((atOne) => other.enter((atOther) => act(atOne, atOther)));
  else if (one.path === other.path) one.enter((at) => act(at, at));
  else throw errnoError("EXDEV");
}
