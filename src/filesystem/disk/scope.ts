/** The parts that all steps share: their requester, their listeners, and the checks of their entries. */

import { Refusal, refuse } from "../../base/errors.ts";
import { nameText, pathIn } from "../jail/backend.ts";
import { errnoError, errnoOf } from "../jail/errno.ts";
import { type Folder, isTextIn, type JailedPath, type Name } from "../jail/folder.ts";
import type { EntryKind } from "../jail/kind.ts";
import type { At } from "./held-entry.ts";
import { moveSameEntry } from "./move-to-new.ts";
import type { Mutation, Requester } from "./mutation.ts";
import type { MutationDescription, Mutations } from "./mutations.ts";

export interface MutationScope {
  readonly mutations: Mutations;
  readonly requester: Requester | undefined;
  readonly whole?: Mutation | undefined;
}

/**
 * Changes a whole tree at `path`, in steps that `act` makes with the scope that it receives. Steps that were
 * made before an error stay, and the refusal of a call that is out of time says so.
 */
export async function changeTree<T>(
  scope: MutationScope,
  description: Pick<MutationDescription, "kind" | "path" | "from" | "entry" | "permissions">,
  act: (steps: MutationScope) => Promise<T>,
): Promise<T> {
  const describe = () => ({ ...description, requester: scope.requester });
  try {
    return await scope.mutations.tree(describe, (whole) =>
      act(whole === undefined ? scope : { ...scope, whole }),
    );
  } catch (error) {
    throw halfwayOf(error, scope.requester?.deadline.milliseconds ?? 0);
  }
}

/** Returns the error of a change of a tree that has begun, for that of one of its steps. */
function halfwayOf(error: unknown, milliseconds: number): unknown {
  const ending = error instanceof Refusal ? error.ending : undefined;
  if (ending === "stop") return refuse.stoppingHalfway();
  return ending === "deadline" ? refuse.stoppedHalfway(milliseconds) : error;
}

/** Describes a step at a name in a folder. */
export function stepAt(
  { requester, whole }: MutationScope,
  folder: Folder,
  { name, entry }: { name: Name; entry: EntryKind },
): Pick<MutationDescription, "path" | "isText" | "entry" | "requester" | "whole"> {
  const path = pathIn(folder.path, nameText(name));
  return { path, isText: isTextIn(folder, name), entry, requester, whole };
}

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

export const before = { isRenamed: false };
export const after = { isRenamed: true };

/**
 * Gives an entry a free name, and takes that back if `verify` refuses it there. If another program has taken
 * the old name, the entry gets the name `kept`, if given: under a temporary one it would be removed.
 */
export function moveVerified(
  [from, to]: readonly [JailedPath, JailedPath],
  verify: VerifyEntry,
  kept?: JailedPath,
): void {
  verify(from, before);
  moveSameEntry(from, to);
  try {
    verify(to, after);
  } catch (error) {
    putBack([to, from], kept);
    throw error;
  }
}

function putBack([from, to]: readonly [JailedPath, JailedPath], kept: JailedPath | undefined): void {
  try {
    moveSameEntry(from, to);
  } catch (error) {
    if (kept === undefined || errnoOf(error) !== "EEXIST") throw error;
    moveSameEntry(from, kept);
  }
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
