import type { RecordedState } from "./frame.ts";
import type { TreeState } from "./restored-tree.ts";

/** Returns whether the state of a path matches a record. With `modeOnly` its content does not count. */
export function isAsRecorded(recorded: RecordedState, found: TreeState, modeOnly: boolean): boolean {
  if (recorded.kind === "file" && found.kind === "file")
    return recorded.mode === found.mode && (modeOnly || isSameContent(recorded, found));
  if (recorded.kind === "dir" && found.kind === "dir")
    return recorded.mode === undefined || recorded.mode === found.mode;
  if (recorded.kind === "symlink" && found.kind === "symlink")
    return recorded.text === found.text.toString("base64");
  if (recorded.kind === "other" && found.kind === "other") return isSameEntry(recorded, found);
  return recorded.kind === "absent" && found.kind === "absent";
}

type File<State> = Extract<State, { kind: "file" }>;

const isSameContent = (recorded: File<RecordedState>, found: File<TreeState>): boolean =>
  recorded.identity === undefined ? recorded.revision === found.revision : isSameEntry(recorded, found);

/** Returns whether an entry that was recorded by its identity is still the same one, under any name. */
const isSameEntry = (recorded: { identity?: string }, found: { identity?: string | undefined }): boolean =>
  recorded.identity !== undefined && recorded.identity === found.identity;
