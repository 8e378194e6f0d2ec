/** The changes that the feed reports, each about one name (coder §25). */

import type { Author } from "../../base/author.ts";

/**
 * The kind of a change. `moved` gives an entry a new name. A change of a folder stands for everything in it.
 */
export type ChangeKind = "created" | "modified" | "deleted" | "moved";

/** The author of a change: a call of this worker, or anything else on the machine. */
export type Cause = CallCause | { readonly by: "external" };

export interface CallCause {
  readonly by: "call";
  readonly function_id?: string;
  readonly transaction?: string;
  readonly author?: Author;
  /** The program that ran while the change was made, if the call ran one. */
  readonly program?: string;
  /** The number of the call's checkpoint, if the journal keeps one. */
  readonly checkpoint?: number;
  /** The calls whose programs ran, if there were several. Then the other fields are absent. */
  readonly commands?: readonly CallCause[];
}

/** A command, from its beginning until all of its changes have been found. */
export interface RunningCommand {
  /** `undefined` if what another worker has announced cannot be read. */
  readonly cause: CallCause | undefined;
}

/** The time of one or more changes. */
export interface Period {
  /** The commands that ran in it, oldest first. */
  readonly commands: readonly RunningCommand[];
  /** Whether none ran in a part of it. */
  readonly isIdle: boolean;
}

/** Returns the calls whose programs ran while a change was made. */
export function commandsIn(cause: Cause): readonly CallCause[] {
  if (cause.by === "external") return [];
  return cause.commands ?? (cause.program === undefined ? [] : [cause]);
}

/** A change before it gets its place in the feed. */
export interface FoundChange {
  /** The path from the base, with U+FFFD for invalid UTF-8; "." for the base itself. */
  readonly path: string;
  readonly kind: ChangeKind;
  /** The old path of a move. */
  readonly from?: string;
  readonly isFolder: boolean;
  /** Whether a move by another program replaced an entry. */
  readonly isOverOther?: boolean;
  /**
   * Whether another program removed a folder after each entry in it, so that earlier changes name everything
   * that was there.
   */
  readonly isEmptied?: boolean;
  /** The revision of the content that a call wrote. */
  readonly revision?: string;
  readonly cause: Cause;
  /** Whether changes before this one are unknown, so that anything at or below the path may differ. */
  readonly isGap?: boolean;
  /** The commands that ran when another program made it. */
  readonly during?: Period;
  /** The time when it was noticed, in milliseconds. */
  readonly time?: number;
}

export interface FeedChange extends Omit<FoundChange, "during"> {
  /** A number that counts up from 1. */
  readonly seq: number;
}

/** A change that stands for unknown ones. */
export const gap: FoundChange = {
  ...{ path: ".", kind: "modified", isFolder: true, isGap: true },
  cause: { by: "external" },
};

/** The end or the beginning of a root, or a moment in it after which the changes before are unknown. */
export type RootGap = "deleted" | "created" | "modified";

/** Returns the gap in a root, or in the one base, whose name is empty. */
export const gapIn = (root: string, kind: RootGap): FoundChange => ({ ...gap, path: root || ".", kind });

/**
 * Returns the part of a change that a reader may see for whom some paths do not exist: a move from such a
 * path is a creation, one to it a deletion. Returns `undefined` if nothing is visible.
 */
export function visiblePart<Change extends FoundChange>(
  change: Change,
  isVisible: (path: string) => boolean,
): Change | undefined {
  const { path, from, ...rest } = change;
  if (from === undefined) return isVisible(path) ? change : undefined;
  if (isVisible(path)) return isVisible(from) ? change : ({ ...rest, path, kind: "created" } as Change);
  return isVisible(from) ? ({ ...rest, path: from, kind: "deleted" } as Change) : undefined;
}
