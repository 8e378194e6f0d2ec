import type { FeedChange } from "../../filesystem/feed/change.ts";
import type { SelectedPaths } from "../fields/request-globs.ts";

/** The changes that a reader receives. */
export interface Selection extends SelectedPaths {
  /** The path that selects changes at or below it, and of folders above it. */
  readonly path: string;
  /** The kinds of change to return; `undefined` for all. */
  readonly kinds: ReadonlySet<string> | undefined;
}

/** Returns whether the reader receives the change. A gap is for every reader of its root. */
export function selects({ path, include, exclude, globs, kinds }: Selection, change: FeedChange): boolean {
  if (change.isGap && change.path === ".") return true;
  if (change.isGap) return isBelow(change.path, path) || isBelow(path, change.path);
  if (kinds !== undefined && !kinds.has(change.kind)) return false;
  const own = change.path === "." ? "" : change.path;
  const paths = change.from === undefined ? [own] : [own, change.from];
  return paths.some((one) => {
    if (!isBelow(one, path)) return change.isFolder && isBelow(path, one);
    if (globs !== undefined) return globs.takes(one, change.isFolder);
    // `include` is about files, and a folder may contain some that match.
    return !(exclude?.matches(one) ?? false) && (change.isFolder || (include?.matches(one) ?? true));
  });
}

const isBelow = (path: string, folder: string): boolean =>
  folder === "" || path === folder || path.startsWith(`${folder}/`);
