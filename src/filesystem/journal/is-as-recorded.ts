import type { RecordedState } from "./frame.ts";
import type { TreeState } from "./restored-tree.ts";

/** Returns whether the state of a path matches a record. With `modeOnly` its content does not count. */
export function isAsRecorded(recorded: RecordedState, found: TreeState, modeOnly: boolean): boolean {
  if (recorded.kind === "file" && found.kind === "file")
    return recorded.mode === found.mode && (modeOnly || recorded.revision === found.revision);
  if (recorded.kind === "dir" && found.kind === "dir")
    return recorded.mode === undefined || recorded.mode === found.mode;
  if (recorded.kind === "symlink" && found.kind === "symlink")
    return recorded.text === found.text.toString("base64");
  return recorded.kind === "absent" && found.kind === "absent";
}
