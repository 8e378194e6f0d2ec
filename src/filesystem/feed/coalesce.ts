import { isDeepStrictEqual } from "node:util";
import type { Steps } from "../../base/scheduling/time-slice.ts";
import type { Cause, FeedChange } from "./change.ts";

/** Changes that are compared in one step. */
const changesPerStep = 64;

/**
 * Drops the changes that a later one makes superfluous: of several modifications of one content by one cause,
 * all but the last; and a modification right after the creation. A reader that has received some of the
 * changes, and gets the others later, knows of everything that was created.
 */
export function* coalesce(changes: readonly FeedChange[]): Steps<FeedChange[]> {
  const kept = new Map<number, FeedChange>();
  /** The number of each file's last change. */
  const last = new Map<string, number>();
  let newest: FeedChange | undefined;
  for (const [index, change] of changes.entries()) {
    if (index % changesPerStep === changesPerStep - 1) yield;
    const { kind, path, from, isFolder, isGap = false, seq } = change;
    const earlier = kept.get(last.get(path) ?? 0);
    // After a folder changes, paths below it mean something else.
    if (isFolder || isGap) last.clear();
    else last.set(path, seq);
    if (from !== undefined) last.delete(from);
    const isSuperseded =
      kind === "modified" &&
      (earlier?.kind === "modified" || (earlier?.kind === "created" && earlier === newest)) &&
      isSameCause(earlier.cause, change.cause);
    if (isSuperseded) kept.delete(earlier.seq);
    newest = isSuperseded ? { ...change, kind: earlier.kind } : change;
    kept.set(seq, newest);
  }
  return [...kept.values()];
}

/** Returns whether both are calls of one function by one author, in one transaction if in any. */
const isSameCause = (one: Cause, other: Cause): boolean =>
  isDeepStrictEqual({ ...one, checkpoint: 0 }, { ...other, checkpoint: 0 });
