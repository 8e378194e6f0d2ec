/** What the feed reports: a change of one name (coder §25). */

/** `moved` is a new name for what had another one; of a folder, each of these counts for everything in it. */
export type ChangeKind = "created" | "modified" | "deleted" | "moved";

/** Who made a change: a call of this worker, or anything else on the machine. */
export type Cause =
  | { readonly by: "call"; readonly function_id?: string; readonly transaction?: string }
  | { readonly by: "external" };

/** A change as it is found, before it has its place in the feed. */
export interface FoundChange {
  /** From the base; bytes that are not UTF-8 became U+FFFD. "." for the base itself. */
  readonly path: string;
  readonly kind: ChangeKind;
  /** Of a move: the old path. */
  readonly from?: string;
  readonly isFolder: boolean;
  /** Of the content that a call wrote. */
  readonly revision?: string;
  readonly cause: Cause;
  /** Changes before this one are not known: anything at the path or below may be different. */
  readonly isGap?: boolean;
}

export interface FeedChange extends FoundChange {
  /** Counts up from 1. */
  readonly seq: number;
}

/** What stands for changes that are not known. */
export const gap: FoundChange = {
  ...{ path: ".", kind: "modified", isFolder: true, isGap: true },
  cause: { by: "external" },
};

/** A change as those may know of it for whom some paths are not there: a move from such a path is a creation, one to it a deletion. */
export function visiblePart<Change extends FoundChange>(
  change: Change,
  isVisible: (path: string) => boolean,
): Change | undefined {
  const { path, from, ...rest } = change;
  if (from === undefined) return isVisible(path) ? change : undefined;
  if (isVisible(path)) return isVisible(from) ? change : ({ ...rest, path, kind: "created" } as Change);
  return isVisible(from) ? ({ ...rest, path: from, kind: "deleted" } as Change) : undefined;
}
