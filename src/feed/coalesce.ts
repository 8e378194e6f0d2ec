import { isDeepStrictEqual } from "node:util";
import type { FeedChange } from "./change.ts";

/**
 * The changes without those that a later one makes superfluous: of several modifications of one content by one cause the last; and
 * one of what was created just before is part of that. A reader that has got some of the changes, and gets the others later, knows of
 * everything that was created.
 */
export function coalesce(changes: Iterable<FeedChange>): FeedChange[] {
  const kept = new Map<number, FeedChange>();
  /** The numbers of the last changes of files. */
  const last = new Map<string, number>();
  let newest: FeedChange | undefined;
  for (const change of changes) {
    const { kind, path, from, isFolder, isGap = false, seq } = change;
    const earlier = kept.get(last.get(path) ?? 0);
    // Paths below a folder that changes mean something else afterwards.
    if (isFolder || isGap) last.clear();
    else last.set(path, seq);
    if (from !== undefined) last.delete(from);
    const isSuperseded =
      kind === "modified" &&
      (earlier?.kind === "modified" || (earlier?.kind === "created" && earlier === newest)) &&
      isDeepStrictEqual(earlier.cause, change.cause);
    if (isSuperseded) kept.delete(earlier.seq);
    newest = isSuperseded ? { ...change, kind: earlier.kind } : change;
    kept.set(seq, newest);
  }
  return [...kept.values()];
}
